-- Whoever feeds the projection applies nothing at or behind these offsets for so long.
update chronofact.checkpoint as c
set stop_at = s.stop_at, stop_until = clock_timestamp() + make_interval(secs => %(for_s)s)
from unnest(%(partitions)s::smallint[], %(stop_at)s::bigint[]) as s (partition, stop_at)
where c.projection = %(projection)s and c.partition = s.partition
