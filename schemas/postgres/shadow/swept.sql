-- A sweep is done; the one after the end of the window is the last.
update chronofact.shadow as s
set
    sweeps = s.sweeps + 1,
    last_compared_at = %(now_at)s,
    last_sweep_s = extract(epoch from clock_timestamp() - %(now_at)s),
    facts = %(facts)s,
    facts_in_flight = %(in_flight)s,
    facts_differing = %(differing)s,
    facts_beyond = (
        select count(*) from looked as l
        where
            not l.is_in_flight
            and not exists (
                select from chronofact.shadow_difference as d
                where d.shadow_id = s.shadow_id and d.fact_id = l.fact_id and d.settled_at is null
            )
    ),
    state = case when s.until <= %(now_at)s then 'over' else s.state end,
    ended_at = case when s.until <= %(now_at)s then coalesce(s.ended_at, %(now_at)s) end
where s.shadow_id = %(shadow_id)s
