-- One run.
select r.*
from chronofact.reconciliation_run as r
where r.run_id = %(run_id)s
