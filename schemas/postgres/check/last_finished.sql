-- The run that finished last, of one projection or of any.
select r.*
from chronofact.reconciliation_run as r
where r.state = 'finished' and (%(projection)s::text is null or r.projection = %(projection)s)
order by r.finished_at desc
limit 1
