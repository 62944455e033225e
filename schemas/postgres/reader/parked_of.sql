-- The parked messages of some facts, as they came.
select
    e.partition,
    e.kafka_offset,
    e.message_key,
    e.message,
    (extract(epoch from e.appended_at) * 1000000)::bigint as appended_at
from chronofact.parked_event as e
where e.projection = {projection} and e.fact_id = any(%(fact_ids)s)
order by e.partition, e.kafka_offset
