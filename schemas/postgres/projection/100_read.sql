-- answer_at with what a caller is shown of the versions: of a value the winner and the first 1,000 that agree.
create function {schema}.read_at(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    out kind smallint,
    out reason smallint,
    out versions integer[],
    out valid_from timestamptz,
    out valid_to timestamptz,
    out version_id uuid,
    out value_json json,
    out recorded_at timestamptz,
    out agreeing uuid[]
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select
        a.kind,
        a.reason,
        a.versions,
        a.valid_from,
        a.valid_to,
        w.version_id,
        w.value_json,
        w.recorded_at,
        more.agreeing
    from {schema}.answer_at(read_at.fact_no, read_at.valid_at, read_at.system_as_of) as a
    left join {schema}.version as w on w.fact_no = read_at.fact_no and w.version_no = a.winner
    left join lateral (
        select array_agg(v.version_id order by v.version_id) as agreeing
        from {schema}.version as v
        where
            a.kind = 1
            and a.versions[2] is not null
            and v.fact_no = read_at.fact_no
            and v.version_no = any(a.versions[:1000])
    ) as more on true
$$;

-- One fact by its id. With fact_no known before the answer is planned for, eleven of twelve leaves are never opened.
create function {schema}.read_one(
    fact_id uuid,
    valid_at timestamptz,
    system_as_of timestamptz,
    out fact_no bigint,
    out subject_label text,
    out kind smallint,
    out reason smallint,
    out versions integer[],
    out valid_from timestamptz,
    out valid_to timestamptz,
    out version_id uuid,
    out value_json json,
    out recorded_at timestamptz,
    out agreeing uuid[]
)
returns setof record
language plpgsql stable parallel safe rows 1
as $$
begin
    select f.fact_no, f.subject_label into fact_no, subject_label
    from {schema}.fact as f
    where f.fact_id = read_one.fact_id;
    if fact_no is not null then
        select r.* into kind, reason, versions, valid_from, valid_to, version_id, value_json, recorded_at, agreeing
        from {schema}.read_at(fact_no, valid_at, system_as_of) as r;
    end if;
    return next;
end;
$$;

-- How long, around valid_at, the fact says nothing, for whatever reasons: at most 256 stretches are looked at.
create function {schema}.silent_during(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    out valid_from timestamptz,
    out valid_to timestamptz
)
language plpgsql stable parallel safe
as $$
declare
    a record;
    steps_left integer := 256;
begin
    select n.valid_from, n.valid_to into valid_from, valid_to
    from {schema}.answer_at(fact_no, valid_at, system_as_of) as n;
    while valid_to is not null and steps_left > 0 loop
        steps_left := steps_left - 1;
        select * into a from {schema}.answer_at(fact_no, valid_to, system_as_of);
        exit when a.kind > 0;
        valid_to := a.valid_to;
    end loop;
    while valid_from is not null and steps_left > 0 loop
        steps_left := steps_left - 1;
        select * into a from {schema}.answer_at(fact_no, valid_from - interval '1 microsecond', system_as_of);
        exit when a.kind > 0;
        valid_from := a.valid_from;
    end loop;
end;
$$;

-- A version's own interval as known then: what was asserted, cut by the earliest end that counts.
create function {schema}.held_until(fact_no bigint, version_id uuid, valid_to timestamptz, system_as_of timestamptz)
returns timestamptz
language sql stable parallel safe
as $$
    select least(held_until.valid_to, (
        select min(e.effective_at)
        from {schema}.ending as e
        inner join {schema}.event as said on e.fact_no = said.fact_no and e.event_seq = said.event_seq
        where
            e.fact_no = held_until.fact_no
            and e.version_id = held_until.version_id
            and said.recorded_at <= coalesce(held_until.system_as_of, 'infinity')
            and not exists (
                select from {schema}.event as taken_back
                where
                    taken_back.fact_no = held_until.fact_no
                    and taken_back.event_type = 'FactRevoked'
                    and taken_back.recorded_at <= coalesce(held_until.system_as_of, 'infinity')
                    and taken_back.canonical_payload::json ->> 'event_id' = e.event_id::text
            )
    ))
$$;
