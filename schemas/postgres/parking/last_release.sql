-- The number of the last release of a projection.
select coalesce(max(r.number), 0)
from chronofact.released_event as r
where r.projection = %(projection)s
