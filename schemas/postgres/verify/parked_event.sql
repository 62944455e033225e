-- What is parked, by place; bytes and texts as hashes.
select
    p.partition,
    p.kafka_offset,
    p.fact_id,
    row_to_json(o)::text as said
from chronofact.parked_event as p
cross join lateral (
    select
        p.partition,
        p.kafka_offset,
        encode(p.message_key, 'hex') as message_key,
        encode(sha256(p.message), 'hex') as message_sha256,
        p.appended_at,
        p.code,
        encode(sha256(convert_to(p.reason, 'UTF8')), 'hex') as reason_sha256
) as o
where p.projection = %(projection)s and p.topic_id = %(topic_id)s
order by p.partition, p.kafka_offset
