-- Releases of a partition, in the order in which they became known.
select
    r.number,
    r.fact_id,
    r.kafka_offset
from chronofact.released_event as r
where
    r.projection = {projection}
    and r.topic_id = %(topic_id)s
    and r.partition = %(partition)s
    and r.number > %(after)s
    and r.number <= %(upto)s
    and r.fact_id is not null
order by r.number
