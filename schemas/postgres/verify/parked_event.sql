-- What is parked, by place; bytes and texts as hashes.
select
    p.partition,
    p.kafka_offset,
    p.fact_id,
    json_build_object(
        'partition', p.partition,
        'kafka_offset', p.kafka_offset,
        'fact_id', p.fact_id,
        'message_key', encode(p.message_key, 'hex'),
        'message_sha256', encode(sha256(p.message), 'hex'),
        'appended_at', p.appended_at,
        'code', p.code,
        'reason_sha256', encode(sha256(convert_to(p.reason, 'UTF8')), 'hex')
    )::text as said
from chronofact.parked_event as p
where p.projection = %(projection)s and p.topic_id = %(topic_id)s
order by p.partition, p.kafka_offset
