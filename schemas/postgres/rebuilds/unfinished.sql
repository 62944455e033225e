-- Rebuilds that are to be gone on with, the oldest first.
select r.rebuild_id
from chronofact.rebuild as r
where r.state not in ('ready', 'failed', 'cancelled')
order by r.rebuild_id
