-- A run is whole.
update chronofact.reconciliation_run as r
set state = 'finished', finished_at = clock_timestamp()
where r.run_id = %(run_id)s
