-- What is given up, by place; texts as hashes.
select
    d.partition,
    d.kafka_offset,
    case when octet_length(d.message_key) = 16 then encode(d.message_key, 'hex')::uuid end as fact_id,
    json_build_object(
        'partition', d.partition,
        'kafka_offset', d.kafka_offset,
        'message_key', encode(d.message_key, 'hex'),
        'drop_offset', d.drop_offset,
        'dropped_by', d.dropped_by,
        'reason_sha256', encode(sha256(convert_to(d.reason, 'UTF8')), 'hex'),
        'dropped_at', d.dropped_at
    )::text as said
from chronofact.dropped_event as d
where d.projection = %(projection)s and d.topic_id = %(topic_id)s
order by d.partition, d.kafka_offset
