-- The first messages of a fact behind an offset that are still parked.
select
    p.partition,
    p.kafka_offset,
    (extract(epoch from p.appended_at) * 1000000)::bigint as appended_at,
    coalesce(p.message_key, '') as message_key,
    coalesce(p.message, '') as message,
    uuid_send(p.fact_id) as fact_id
from chronofact.parked_event as p
where
    p.projection = %(projection)s and p.topic_id = %(topic_id)s
    and p.partition = %(partition)s and p.fact_id = %(fact_id)s and p.kafka_offset > %(after)s
order by p.kafka_offset
limit %(messages_max)s
