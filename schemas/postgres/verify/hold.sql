-- Whoever feeds the projection applies nothing at or behind these offsets for so long.
-- Locked in the order of batches first, or they and this could wait for each other.
with locked as (
    select
        c.topic_id,
        c.partition
    from chronofact.checkpoint as c
    where c.projection = %(projection)s and c.partition = any(%(partitions)s::smallint[])
    order by c.partition
    for update
)

update chronofact.checkpoint as c
set stop_at = s.stop_at, stop_until = clock_timestamp() + make_interval(secs => %(for_s)s)
from locked as l,
    unnest(%(partitions)s::smallint[], %(stop_at)s::bigint[])
        as s (
            partition, stop_at
        )
where
    c.projection = %(projection)s and c.topic_id = l.topic_id
    and c.partition = l.partition and c.partition = s.partition
