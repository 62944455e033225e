-- Whoever feeds the projection applies nothing at or behind these offsets for so long.
-- Locked in the order of batches first, or they and this could wait for each other.
with locked as (
    select
        c.topic_id,
        c.partition
    from chronofact.checkpoint as c
    where c.projection = %(projection)s
    order by c.partition
    for update
)

update chronofact.checkpoint as c
set stop_at = coalesce(s.stop_at, 0), stop_until = clock_timestamp() + make_interval(secs => %(for_s)s)
from locked as l
left join
    unnest(%(partitions)s::smallint[], %(stop_at)s::bigint[]) as s (partition, stop_at)
    on l.partition = s.partition
where
    c.projection = %(projection)s and c.topic_id = l.topic_id
    and c.partition = l.partition
