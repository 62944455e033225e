-- Kept differences that are still there.
update chronofact.shadow_difference as d
set last_seen_at = %(now_at)s
from looked as l
where d.shadow_id = %(shadow_id)s and d.settled_at is null and d.fact_id = l.fact_id and not l.is_in_flight
