-- The next state of a rebuild, by its runner alone.
update chronofact.rebuild as r
set
    state = %(state)s,
    waiting = null,
    heartbeat_at = clock_timestamp(),
    finished_at = case when %(state)s in ('ready', 'failed', 'cancelled') then clock_timestamp() end,
    failure_code = %(code)s,
    failure = %(failure)s,
    remedy = %(remedy)s
where r.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s
returning r.projection
