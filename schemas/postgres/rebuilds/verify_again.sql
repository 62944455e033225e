-- A failed rebuild of which all was loaded is fed and verified once more, held against another one where that is said.
update chronofact.rebuild as r
set
    state = 'catching_up',
    compared_with = coalesce(%(compared_with)s, r.compared_with),
    waiting = null,
    heartbeat_at = null,
    finished_at = null,
    failure_code = null,
    failure = null,
    remedy = null
where
    r.rebuild_id = %(rebuild_id)s
    and r.state = 'failed' and r.cancel_asked_at is null and r.phases ? 'catch_up_s'
returning r.projection
