-- Parked messages, for a look at whose claims they are.
select
    e.partition,
    e.kafka_offset,
    e.fact_id,
    e.message
from chronofact.parked_event as e
where e.projection = {projection} and e.message is not null
order by e.partition, e.kafka_offset
limit %(limit)s
