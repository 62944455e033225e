-- The newest stretch of a lane that covers valid_at, of those known by system_as_of (null: all): one index look-up.
create function {schema}.top_at(fact_no bigint, lane integer, valid_at timestamptz, system_as_of timestamptz)
returns setof {schema}.timeline
language sql stable parallel safe rows 1
as $$
    select t.*
    from {schema}.timeline as t
    where
        t.fact_no = top_at.fact_no
        and t.lane = top_at.lane
        and t.known_from <= coalesce(top_at.system_as_of, 'infinity')
        and (t.valid_from is null or t.valid_from <= top_at.valid_at)
        and (t.valid_to is null or t.valid_to > top_at.valid_at)
    order by t.fact_no desc, t.lane desc, t.known_from desc, t.event_seq desc
    limit 1
$$;

-- What newer stretches leave of one: the bounds next to valid_at, which it covers and they don't.
create function {schema}.cut_at(
    fact_no bigint,
    lane integer,
    valid_at timestamptz,
    system_as_of timestamptz,
    known_from timestamptz,
    event_seq bigint,
    out valid_from timestamptz,
    out valid_to timestamptz
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select
        max(t.valid_to) filter (where t.valid_to <= cut_at.valid_at),
        min(t.valid_from) filter (where t.valid_from > cut_at.valid_at)
    from {schema}.timeline as t
    where
        t.fact_no = cut_at.fact_no
        and t.lane = cut_at.lane
        and t.known_from <= coalesce(cut_at.system_as_of, 'infinity')
        and (t.known_from, t.event_seq) > (cut_at.known_from, cut_at.event_seq)
$$;
