-- What is given up, by place; texts as hashes.
select
    d.partition,
    d.kafka_offset,
    case when octet_length(d.message_key) = 16 then encode(d.message_key, 'hex')::uuid end as fact_id,
    row_to_json(o)::text as said
from chronofact.dropped_event as d
cross join lateral (
    select
        d.partition,
        d.kafka_offset,
        encode(d.message_key, 'hex') as message_key,
        d.drop_offset,
        d.dropped_by,
        encode(sha256(convert_to(d.reason, 'UTF8')), 'hex') as reason_sha256,
        d.dropped_at
) as o
where d.projection = %(projection)s and d.topic_id = %(topic_id)s
order by d.partition, d.kafka_offset
