-- The rebuild as whoever is about to change something has to know it; nobody takes it until the transaction ends.
select
    r.epoch,
    r.cancel_asked_at is not null as is_cancelled,
    r.fingerprint
from chronofact.rebuild as r
where r.rebuild_id = %(rebuild_id)s
for update
