-- Have facts, or messages of no fact, tried again: all that is parked of them at once, since order counts.
with named as (
    select distinct
        p.fact_id,
        case when p.fact_id is null then p.kafka_offset end as alone,
        p.partition
    from chronofact.parked_event as p
    where
        p.projection = %(projection)s
        and (%(fact_id)s::uuid is null or p.fact_id = %(fact_id)s)
        and (%(partition)s::smallint is null or p.partition = %(partition)s)
        and (%(kafka_offset)s::bigint is null or p.kafka_offset = %(kafka_offset)s)
        and (%(code)s::text is null or p.code = %(code)s)
)

update chronofact.parked_event as p
set release_asked_at = clock_timestamp()
from named as n
where
    p.projection = %(projection)s and p.partition = n.partition
    and (p.fact_id = n.fact_id or (p.fact_id is null and p.kafka_offset = n.alone))
returning p.partition, p.kafka_offset
