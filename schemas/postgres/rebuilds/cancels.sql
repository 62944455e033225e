-- Rebuilds of which nothing is to stay, though something still does.
select r.rebuild_id
from chronofact.rebuild as r
where r.cancel_asked_at is not null and r.state not in ('ready', 'cancelled')
order by r.rebuild_id
