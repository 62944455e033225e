-- Runs, newest first.
select r.*
from chronofact.reconciliation_run as r
where %(before)s::bigint is null or r.run_id < %(before)s
order by r.run_id desc
limit %(limit)s
