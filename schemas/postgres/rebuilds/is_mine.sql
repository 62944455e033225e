-- Whether the runner still has the rebuild; until the transaction ends, nobody can take it.
select r.projection
from chronofact.rebuild as r
where r.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s
for update
