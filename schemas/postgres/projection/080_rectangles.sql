-- What a stretch says, in short: u4 (unknown, reason 4), v:1,2 (value), c:1,2 (conflict), m:1,2 (values), with the
-- numbers of the versions behind it. painted is what lane 0 says, or empty: look at the lanes; V and C are crowds.
-- lanes has a byte a lane: 0 nothing yet, 1 eligible, 2 not, 2 + reason.
create function {schema}.stretch_says(painted text, lanes bytea) returns text
language plpgsql immutable parallel safe
as $$
declare
    eligible text;
    reason integer;
begin
    if painted not in ('', 'V', 'C') then
        return painted;
    end if;
    select
        string_agg(n::text, ',' order by n) filter (where get_byte(lanes, n - 1) = 1),
        min(get_byte(lanes, n - 1)) filter (where get_byte(lanes, n - 1) > 2) - 2
    into eligible, reason
    from generate_series(1, length(lanes)) as n;
    if painted = '' and eligible is null then
        return 'u' || coalesce(reason, 7);
    end if;
    return case painted when '' then 'm:' else lower(painted) || ':' end || coalesce(eligible, '');
end;
$$;

-- The fact's timeline on both axes, in the canonical cut of semantics §5: each stretch as long along valid time as it
-- says the same, and as long along system time as it stays just so. Null bounds are open.
create function {schema}.rectangles(fact_no bigint)
returns table (
    kind smallint,
    reason smallint,
    versions integer[],
    valid_from timestamptz,
    valid_to timestamptz,
    known_from timestamptz,
    known_to timestamptz
)
language plpgsql stable parallel safe rows 20
as $$
#variable_conflict use_column
declare
    p record;
    edge timestamptz;
    first integer;
    past integer; -- the first cell behind the painted ones
    -- cells, each up to the next: what lies on every lane
    cell_from timestamptz [] := array['-infinity'];
    painted text [] := array[''];
    lanes bytea [] := array[(
        select decode(repeat('00', coalesce(max(t.lane), 0)), 'hex')
        from {schema}.timeline as t where t.fact_no = rectangles.fact_no
    )];
    cell_says text [] := array[null::text]; -- null: to be said anew
    code integer;
    -- stretches as they show since
    said_from timestamptz [] := '{}';
    said text [] := '{}';
    since timestamptz [] := '{}';
    -- what the slice at hand makes of those it touches
    now_from timestamptz [];
    now_said text [];
    now_since timestamptz [];
    touched_from timestamptz;
    touched_to timestamptz;
    says text;
    at integer;
begin
    for p in
        select
            t.lane, t.known_from, t.kind, t.reason,
            coalesce(t.valid_from, '-infinity') as stretch_from,
            coalesce(t.valid_to, 'infinity') as stretch_to,
            case
                when t.kind = 0 then 'u' || coalesce(t.reason, 7)
                when t.kind = 3 then ''
                when t.versions is null then case t.kind when 1 then 'V' else 'C' end
                else case t.kind when 1 then 'v:' else 'c:' end || array_to_string(t.versions, ',')
            end as lane_0_says,
            lead(t.known_from) over w is distinct from t.known_from as ends_slice
        from {schema}.timeline as t
        where t.fact_no = rectangles.fact_no
        window w as (order by t.known_from, t.event_seq, t.lane, t.valid_from nulls first)
        order by t.known_from, t.event_seq, t.lane, t.valid_from nulls first
    loop
        foreach edge in array array[p.stretch_from, p.stretch_to] loop
            first := width_bucket(edge, cell_from);
            if edge < 'infinity' and cell_from[first] < edge then
                cell_from := cell_from[:first] || edge || cell_from[first + 1:];
                painted := painted[:first] || painted[first] || painted[first + 1:];
                lanes := lanes[:first] || lanes[first] || lanes[first + 1:];
                cell_says := cell_says[:first] || cell_says[first] || cell_says[first + 1:];
            end if;
        end loop;
        first := width_bucket(p.stretch_from, cell_from);
        past := case p.stretch_to
            when 'infinity' then cardinality(cell_from) + 1 else width_bucket(p.stretch_to, cell_from)
        end;
        code := case p.kind when 1 then 1 else 2 + coalesce(p.reason, 0) end;
        for i in first .. past - 1 loop
            if p.lane = 0 then
                painted[i] := p.lane_0_says;
                cell_says[i] := null;
            else
                -- while some version is eligible, why another one is not says nothing
                if code = 1 or get_byte(lanes[i], p.lane - 1) = 1 or cell_says[i] like 'u%' then
                    cell_says[i] := null;
                end if;
                lanes[i] := set_byte(lanes[i], p.lane - 1, code);
            end if;
        end loop;
        touched_from := least(touched_from, p.stretch_from);
        touched_to := greatest(touched_to, p.stretch_to);
        continue when not p.ends_slice;

        -- the stretches that were touched, or lie next to what was: they may have become one
        first := greatest(width_bucket(touched_from, said_from), 1);
        if first > 1 and said_from[first] = touched_from then
            first := first - 1;
        end if;
        past := least(width_bucket(touched_to, said_from), cardinality(said_from));
        touched_from := coalesce(said_from[first], '-infinity');
        touched_to := coalesce(said_from[past + 1], 'infinity');
        now_from := '{}';
        now_said := '{}';
        now_since := '{}';
        at := width_bucket(touched_from, cell_from);
        while at <= cardinality(cell_from) and cell_from[at] < touched_to loop
            says := cell_says[at];
            if says is null then
                says := {schema}.stretch_says(painted[at], lanes[at]);
                cell_says[at] := says;
            end if;
            if cardinality(now_said) = 0 or now_said[cardinality(now_said)] <> says then
                now_from := now_from || cell_from[at];
                now_said := now_said || says;
                now_since := now_since || p.known_from;
            end if;
            at := at + 1;
        end loop;
        for i in first .. past loop
            at := width_bucket(said_from[i], now_from);
            if
                now_from[at] = said_from[i]
                and now_said[at] = said[i]
                and coalesce(now_from[at + 1], touched_to) = coalesce(said_from[i + 1], 'infinity')
            then
                now_since[at] := since[i];
            else
                return query select s.*, since[i], p.known_from
                from {schema}.stretch_shows(said[i], said_from[i], coalesce(said_from[i + 1], 'infinity')) as s;
            end if;
        end loop;
        said_from := said_from[:first - 1] || now_from || said_from[past + 1:];
        said := said[:first - 1] || now_said || said[past + 1:];
        since := since[:first - 1] || now_since || since[past + 1:];
        touched_from := null;
        touched_to := null;
    end loop;
    for i in 1 .. cardinality(said) loop
        return query select s.*, since[i], null::timestamptz
        from {schema}.stretch_shows(said[i], said_from[i], coalesce(said_from[i + 1], 'infinity')) as s;
    end loop;
end;
$$;

-- stretch_says read back.
create function {schema}.stretch_shows(
    says text,
    stretch_from timestamptz,
    stretch_to timestamptz,
    out kind smallint,
    out reason smallint,
    out versions integer[],
    out valid_from timestamptz,
    out valid_to timestamptz
)
returns setof record
language sql immutable parallel safe rows 1
as $$
    select
        (strpos('uvcm', left(says, 1)) - 1)::smallint,
        case left(says, 1) when 'u' then substr(says, 2)::smallint end,
        case left(says, 1) when 'u' then '{}' else string_to_array(substr(says, 3), ',')::integer [] end,
        nullif(stretch_from, '-infinity'),
        nullif(stretch_to, 'infinity')
$$;
