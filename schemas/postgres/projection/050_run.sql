-- The longest stretch around valid_at whose lanes hold the same values, or, where none is eligible, give the same
-- least reason. Lanes are complete wherever lane 0 is silent, many-valued or a crowd.
create function {schema}.lanes_run(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    out valid_from timestamptz,
    out valid_to timestamptz
)
language sql stable parallel safe
as $$
    with shown as (
        select
            t.lane,
            t.kind,
            t.reason,
            tstzrange(t.valid_from, t.valid_to)::tstzmultirange - coalesce(
                range_agg(tstzrange(t.valid_from, t.valid_to)) over (
                    partition by t.lane
                    order by t.known_from desc, t.event_seq desc
                    rows between unbounded preceding and 1 preceding -- newer, or beside it from the same event
                ),
                '{}'
            ) as stretches
        from {schema}.timeline as t
        where
            t.fact_no = lanes_run.fact_no
            and t.lane > 0
            and t.known_from <= coalesce(lanes_run.system_as_of, 'infinity')
    ),

    said as (
        select null::smallint as reason, range_agg(s.stretches) as stretches
        from shown as s
        cross join lateral (
            select {schema}.value_key(one.value_json, one.value_hash) as value_key
            from {schema}.version as one
            where one.fact_no = lanes_run.fact_no and one.version_no = s.lane
            limit 1
        ) as v
        where s.kind = 1
        group by v.value_key
        union all
        select s.reason, range_agg(s.stretches)
        from shown as s
        where s.kind = 0 and s.reason is not null
        group by s.reason
    ),

    here as (
        select
            coalesce(bool_or(s.reason is null), false) as has_value,
            min(s.reason) as reason
        from said as s
        where s.stretches @> lanes_run.valid_at
    ),

    -- what must go on, and what must not begin
    bound as (
        select s.stretches @> lanes_run.valid_at as goes_on, one.stretch
        from said as s
        cross join here as h
        cross join lateral unnest(s.stretches) as one (stretch)
        where s.reason is null or (not h.has_value and s.reason <= h.reason)
    )

    select
        nullif(greatest(
            max(coalesce(lower(b.stretch), '-infinity')) filter (
                where b.goes_on and b.stretch @> lanes_run.valid_at
            ),
            max(upper(b.stretch)) filter (where not b.goes_on and upper(b.stretch) <= lanes_run.valid_at)
        ), '-infinity'),
        nullif(least(
            min(coalesce(upper(b.stretch), 'infinity')) filter (
                where b.goes_on and b.stretch @> lanes_run.valid_at
            ),
            min(lower(b.stretch)) filter (where not b.goes_on and lower(b.stretch) > lanes_run.valid_at)
        ), 'infinity')
    from bound as b
$$;

-- The longest stretch of lane 0 around valid_at with this answer: a few steps from neighbour to neighbour, and where
-- that does not reach an end, one sweep.
create function {schema}.run_around(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    kind smallint,
    reason smallint,
    answer_key uuid,
    shown_from timestamptz,
    shown_to timestamptz,
    goes_before boolean, -- whether the answer may be the same before shown_from, after shown_to
    goes_after boolean,
    out valid_from timestamptz,
    out valid_to timestamptz
)
returns setof record
language plpgsql stable parallel safe rows 1
as $$
declare
    s record;
    steps_left integer := 8;
begin
    valid_from := shown_from;
    valid_to := shown_to;
    while steps_left > 0 and (goes_before or goes_after) loop
        steps_left := steps_left - 1;
        select * into s from {schema}.shown_at(
            fact_no, 0, case when goes_after then valid_to else valid_from - interval '1 microsecond' end, system_as_of
        );
        if s.kind = 2 and kind = 2 and s.versions is null then
            return query select * from {schema}.lanes_run(fact_no, valid_at, system_as_of);
            return;
        elsif not {schema}.may_go_on(kind, reason, answer_key, s.kind, s.reason, s.answer_key, s.versions) then
            if goes_after then goes_after := false; else goes_before := false; end if;
        elsif goes_after then
            valid_to := s.shown_to;
            goes_after := valid_to is not null;
        else
            valid_from := s.shown_from;
            goes_before := valid_from is not null;
        end if;
    end loop;
    if goes_before or goes_after then
        return query select * from {schema}.run_swept(
            fact_no, valid_at, system_as_of, kind, reason, answer_key, tstzrange(
                case when not goes_before then valid_from end, case when not goes_after then valid_to end
            )
        );
        return;
    end if;
    return next;
end;
$$;

-- The same for long runs: stretches newest first, each shown where no newer one lies over it, until all between the
-- nearest other answers has been seen.
create function {schema}.run_swept(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    kind smallint,
    reason smallint,
    answer_key uuid,
    within tstzrange, -- known not to reach further
    out valid_from timestamptz,
    out valid_to timestamptz
)
returns setof record
language plpgsql stable parallel safe rows 1
as $$
declare
    t record;
    seen tstzmultirange := '{}';
    other tstzmultirange;
    region tstzrange := within;
begin
    for t in
        select tl.kind, tl.reason, tl.answer_key, tl.versions, tstzrange(tl.valid_from, tl.valid_to) as stretch
        from {schema}.timeline as tl
        where
            tl.fact_no = run_swept.fact_no
            and tl.lane = 0
            and tl.known_from <= coalesce(run_swept.system_as_of, 'infinity')
            and tstzrange(tl.valid_from, tl.valid_to) && within
        order by tl.known_from desc, tl.event_seq desc
    loop
        if t.kind <> kind or t.reason is distinct from reason or t.answer_key is distinct from answer_key then
            other := (t.stretch * region)::tstzmultirange - seen;
            if t.kind = 2 and kind = 2 and t.versions is null and not isempty(other) then
                return query select * from {schema}.lanes_run(fact_no, valid_at, system_as_of);
                return;
            end if;
            region := tstzrange(
                coalesce(upper(other * tstzrange(null, valid_at)::tstzmultirange), lower(region)),
                coalesce(lower(other * tstzrange(valid_at, null)::tstzmultirange), upper(region))
            );
        end if;
        seen := seen + t.stretch::tstzmultirange;
        exit when seen @> region;
    end loop;
    valid_from := lower(region);
    valid_to := upper(region);
    return next;
end;
$$;
