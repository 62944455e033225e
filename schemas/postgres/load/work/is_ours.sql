-- Whether the worker's runner still has the rebuild, until the transaction ends, and whether it is to end.
select r.cancel_asked_at is not null as is_cancelled
from chronofact.rebuild as r
where r.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s
