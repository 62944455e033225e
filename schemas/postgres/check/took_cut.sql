-- The cut of a run.
update chronofact.reconciliation_run as r
set cut_at = %(cut_at)s, topic_id = %(topic_id)s, next_offsets = %(next_offsets)s
where r.run_id = %(run_id)s
