-- What there is of each partition, and the last offset that any of it lay at.
select
    a.partition,
    sum(a.events)::bigint as events,
    sum(a.parked)::bigint as parked,
    sum(a.dropped)::bigint as dropped,
    max(a.last_offset) as last_offset
from (
    select
        e.kafka_partition as partition,
        count(*) as events,
        0 as parked,
        0 as dropped,
        max(e.kafka_offset) as last_offset
    from {schema}.event as e
    group by e.kafka_partition
    union all
    select
        p.partition,
        0 as events,
        count(*) as parked,
        0 as dropped,
        max(p.kafka_offset) as last_offset
    from chronofact.parked_event as p
    where p.projection = %(projection)s and p.topic_id = %(topic_id)s
    group by p.partition
    union all
    select
        d.partition,
        0 as events,
        0 as parked,
        count(*) as dropped,
        max(d.drop_offset) as last_offset
    from chronofact.dropped_event as d
    where d.projection = %(projection)s and d.topic_id = %(topic_id)s
    group by d.partition
) as a
group by a.partition
order by a.partition
