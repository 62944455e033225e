-- Its runner is alive: how long a phase has taken further, and what it waits for. Whether somebody wants its end.
update chronofact.rebuild as r
set
    heartbeat_at = clock_timestamp(),
    waiting = %(waiting)s,
    compared_with = coalesce(%(compared_with)s, r.compared_with),
    phases = case
        when %(phase)s::text is null then r.phases
        else r.phases || jsonb_build_object(
            %(phase)s::text,
            round((coalesce((r.phases ->> %(phase)s::text)::float8, 0) + %(seconds)s)::numeric, 3)
        )
    end
where r.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s
returning r.cancel_asked_at is not null as is_cancelled
