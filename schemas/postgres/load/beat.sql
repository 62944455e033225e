-- A sign of life of the runner, and the time that has gone into a phase since the last one.
update chronofact.rebuild as r
set
    heartbeat_at = clock_timestamp(),
    waiting = %(waiting)s,
    state = %(state)s,
    phases = r.phases || jsonb_build_object(
        %(phase)s::text, round((coalesce((r.phases ->> %(phase)s)::numeric, 0) + %(seconds)s::numeric), 3)
    )
where r.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s
returning r.cancel_asked_at is not null as is_cancelled
