-- What the lanes say at valid_at: kind 3 (values) with the number of each eligible version, or unknown with the least
-- reason.
create function {schema}.lanes_at(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    out kind smallint,
    out reason smallint,
    out versions integer[]
)
language plpgsql stable parallel safe
as $$
begin
    select array_agg(top.lane order by top.lane) filter (where top.kind = 1), min(top.reason) filter (where top.kind = 0)
    into versions, reason
    from (
        select distinct on (t.lane) t.lane, t.kind, t.reason
        from {schema}.timeline as t
        where
            t.fact_no = lanes_at.fact_no
            and t.lane > 0
            and t.known_from <= coalesce(lanes_at.system_as_of, 'infinity')
            and coalesce(t.valid_from, '-infinity') <= lanes_at.valid_at
            and (t.valid_to is null or t.valid_to > lanes_at.valid_at)
        order by t.lane desc, t.known_from desc, t.event_seq desc
    ) as top;
    if versions is null then
        kind := 0;
        reason := coalesce(reason, 7);
    else
        kind := 3;
        reason := null;
    end if;
end;
$$;

-- The answer where lane 0 does not say it alone: many values, or a crowd of versions behind one value or a conflict.
create function {schema}.crowd_at(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    kind_of_crowd smallint, -- 1 or 2; null or 3: many-valued
    out kind smallint,
    out reason smallint,
    out versions integer[],
    out winner integer,
    out valid_from timestamptz,
    out valid_to timestamptz
)
returns setof record
language plpgsql stable parallel safe rows 1
as $$
begin
    if kind_of_crowd is null and not exists (
        select from {schema}.timeline as t
        where t.fact_no = crowd_at.fact_no and t.known_from <= coalesce(crowd_at.system_as_of, 'infinity')
    ) then
        kind := 0;
        reason := 8;
        return next;
        return;
    end if;
    select l.kind, l.reason, l.versions into kind, reason, versions
    from {schema}.lanes_at(fact_no, valid_at, system_as_of) as l;
    if kind_of_crowd = 1 or kind_of_crowd = 2 then
        kind := kind_of_crowd;
        reason := null;
    end if;
    if kind_of_crowd = 1 then -- the latest valid_from, ties lowest version_id (semantics §4)
        select v.version_no into winner
        from {schema}.version as v
        where v.fact_no = crowd_at.fact_no and v.version_no = any(crowd_at.versions)
        order by v.valid_from desc nulls last, v.version_id asc
        limit 1;
    else
        select r.valid_from, r.valid_to into valid_from, valid_to
        from {schema}.lanes_run(fact_no, valid_at, system_as_of) as r;
    end if;
    return next;
end;
$$;
