-- The newest stretch of a lane that covers valid_at, of those known by system_as_of (null: all): one index look-up,
-- newest first; stretches that start later are passed over within the index.
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
        and coalesce(t.valid_from, '-infinity') <= top_at.valid_at
        and (t.valid_to is null or t.valid_to > top_at.valid_at)
    order by t.fact_no desc, t.lane desc, t.known_from desc, t.event_seq desc
    limit 1
$$;

-- Of the stretches newer than event_seq, the next to start after valid_at and by valid_to: it shows where it starts.
create function {schema}.next_newer(
    fact_no bigint,
    lane integer,
    valid_at timestamptz,
    valid_to timestamptz,
    system_as_of timestamptz,
    event_seq bigint
)
returns setof {schema}.timeline
language sql stable parallel safe rows 1
as $$
    select t.*
    from {schema}.timeline as t
    where
        t.fact_no = next_newer.fact_no
        and t.lane = next_newer.lane
        and coalesce(t.valid_from, '-infinity') > next_newer.valid_at
        and coalesce(t.valid_from, '-infinity') <= coalesce(next_newer.valid_to, 'infinity')
        and t.known_from <= coalesce(next_newer.system_as_of, 'infinity')
        and t.event_seq > next_newer.event_seq
    order by t.fact_no asc, t.lane asc, coalesce(t.valid_from, '-infinity') asc, t.known_from desc, t.event_seq desc
    limit 1
$$;

-- Where the last of them ends that lie before valid_at; stretches that start later are passed over within the index.
create function {schema}.newer_end(
    fact_no bigint,
    lane integer,
    valid_at timestamptz,
    system_as_of timestamptz,
    known_from timestamptz,
    event_seq bigint,
    out valid_to timestamptz
)
returns setof timestamptz
language sql stable parallel safe rows 1
as $$
    select max(n.valid_to)
    from (
        select t.valid_to
        from {schema}.timeline as t
        where
            t.fact_no = newer_end.fact_no
            and t.lane = newer_end.lane
            and t.known_from <= coalesce(newer_end.system_as_of, 'infinity')
            and (t.known_from, t.event_seq) > (newer_end.known_from, newer_end.event_seq)
            and coalesce(t.valid_from, '-infinity') < newer_end.valid_at
            and t.valid_to <= newer_end.valid_at
        order by t.fact_no asc, t.lane asc, t.known_from asc, t.event_seq asc
        offset 0 -- keeps the order, so that the index is the one that starts behind event_seq
    ) as n
$$;

-- The stretch of a lane that shows at valid_at, as far as it shows, and what begins where a newer one cuts it off.
create function {schema}.shown_at(
    fact_no bigint,
    lane integer,
    valid_at timestamptz,
    system_as_of timestamptz,
    out kind smallint,
    out reason smallint,
    out answer_key uuid,
    out versions integer[],
    out winner integer,
    out shown_from timestamptz,
    out shown_to timestamptz,
    out next_kind smallint, -- null: nothing newer begins there
    out next_reason smallint,
    out next_key uuid,
    out next_versions integer[]
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select
        top.kind,
        top.reason,
        top.answer_key,
        top.versions,
        top.winner,
        greatest(top.valid_from, passed.valid_to),
        least(top.valid_to, n.valid_from),
        n.kind,
        n.reason,
        n.answer_key,
        n.versions
    from (
        select shown_at.fact_no, shown_at.lane, shown_at.valid_at, shown_at.system_as_of
    ) as q
    cross join lateral {schema}.top_at(q.fact_no, q.lane, q.valid_at, q.system_as_of) as top
    cross join lateral {schema}.newer_end(
        q.fact_no, q.lane, q.valid_at, q.system_as_of, top.known_from, top.event_seq
    ) as passed
    left join lateral {schema}.next_newer(
        q.fact_no, q.lane, q.valid_at, top.valid_to, q.system_as_of, top.event_seq
    ) as n on true
$$;

-- Whether an answer of lane 0 is the same in a neighbour; only lanes can tell of a conflict and a crowd in conflict.
create function {schema}.may_go_on(
    kind smallint, reason smallint, answer_key uuid,
    next_kind smallint, next_reason smallint, next_key uuid, next_versions integer[]
)
returns boolean
language sql immutable parallel safe
as $$
    select coalesce(
        next_kind = kind
        and next_reason is not distinct from reason
        and (next_key is not distinct from answer_key or (kind = 2 and next_versions is null)),
        false
    )
$$;
