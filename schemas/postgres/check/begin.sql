-- A new run.
insert into chronofact.reconciliation_run (projection, state, seed, past_max, with_log, with_adjudicated)
values (%(projection)s, 'running', %(seed)s, %(past_max)s, %(with_log)s, %(with_adjudicated)s)
returning run_id
