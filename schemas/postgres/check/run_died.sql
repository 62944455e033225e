-- Runs whose process died: nobody else holds the lock, so none is at work.
update chronofact.reconciliation_run as r
set state = 'failed', finished_at = clock_timestamp(), failure = %s
where r.projection = %s and r.state = 'running'
