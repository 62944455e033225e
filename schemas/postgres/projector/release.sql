-- Applied after all. One writer at a time, so that numbers come in the order of commits.
with alone as materialized (
    select pg_advisory_xact_lock(hashtext('chronofact.released_event')) as locked
),

released as (
    delete from chronofact.parked_event as p
    where
        p.projection = %(projection)s and p.topic_id = %(topic_id)s
        and p.partition = %(partition)s and p.kafka_offset = any(%(kafka_offsets)s)
    returning p.projection, p.topic_id, p.partition, p.kafka_offset, p.fact_id
)

insert into chronofact.released_event (projection, topic_id, partition, kafka_offset, fact_id)
select
    r.projection,
    r.topic_id,
    r.partition,
    r.kafka_offset,
    r.fact_id
from alone
cross join released as r
order by r.kafka_offset
