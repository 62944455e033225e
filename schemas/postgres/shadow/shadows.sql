-- Comparisons: one, the newest of a projection, those that are open, or all that are the newest of theirs.
select
    s.shadow_id,
    s.old_projection,
    s.new_projection,
    s.state,
    s.started_at,
    s.until,
    s.ended_at,
    s.sweeps,
    s.last_compared_at,
    s.last_sweep_s,
    s.facts,
    s.facts_in_flight,
    s.facts_differing,
    s.facts_beyond,
    s.failure
from chronofact.shadow as s
where
    (%(shadow_id)s::bigint is null or s.shadow_id = %(shadow_id)s)
    and (%(projection)s::text is null or s.new_projection = %(projection)s)
    and (not %(is_open)s or s.state = 'open')
    and (
        %(shadow_id)s::bigint is not null
        or s.shadow_id = (
            select max(other.shadow_id) from chronofact.shadow as other where other.new_projection = s.new_projection
        )
    )
order by s.shadow_id desc
