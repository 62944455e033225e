-- A run came to nothing.
update chronofact.reconciliation_run as r
set state = 'failed', finished_at = clock_timestamp(), failure = %(failure)s
where r.run_id = %(run_id)s and r.state = 'running'
