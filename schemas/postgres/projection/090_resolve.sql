create function {schema}.kind_name(kind smallint) returns text
language sql immutable parallel safe
return (array['unknown', 'value', 'conflict', 'values'])[kind + 1];

create function {schema}.reason_name(reason smallint) returns text
language sql immutable parallel safe
return (array[
    'excluded', 'ended', 'superseded', 'not_yet_valid', 'revoked', 'proposed_only', 'never_recorded', 'not_yet_known'
])[reason];

-- answer_at with names and values in place of numbers.
create function {schema}.resolve(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    out kind text,
    out reason text,
    out value_json jsonb, -- of a value
    out values_json jsonb, -- of values and conflicts, in the order of version_ids
    out version_id uuid, -- of a value
    out version_ids uuid[],
    out valid_during tstzrange,
    out recorded_at timestamptz -- of a value
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select
        {schema}.kind_name(a.kind),
        {schema}.reason_name(a.reason),
        v.value_json,
        v.values_json,
        v.version_id,
        coalesce(v.version_ids, '{}'),
        tstzrange(a.valid_from, a.valid_to),
        v.recorded_at
    from {schema}.answer_at(resolve.fact_no, resolve.valid_at, resolve.system_as_of) as a
    left join lateral (
        select
            (array_agg(one.value_json::jsonb) filter (where one.version_no = a.winner))[1] as value_json,
            case when a.kind > 1 then jsonb_agg(one.value_json order by one.version_id) end as values_json,
            (array_agg(one.version_id) filter (where one.version_no = a.winner))[1] as version_id,
            array_agg(one.version_id order by one.version_id) as version_ids,
            (array_agg(one.recorded_at) filter (where one.version_no = a.winner))[1] as recorded_at
        from {schema}.version as one
        where one.fact_no = resolve.fact_no and one.version_no = any(a.versions)
    ) as v on a.kind > 0
$$;

-- The answer at now of every fact that has one: a line a version behind it, of a value the one that answers.
create view {schema}.memory_current as
select
    v.id,
    v.tenant_id,
    v.subject_id,
    v.scope_kind,
    v.scope_key,
    v.fact_key,
    v.value_json,
    tstzrange(a.valid_from, a.valid_to) as valid_during,
    v.recorded_at,
    v.lifecycle,
    v.source_id,
    v.source_hash,
    v.supersedes_id,
    v.superseded_by_id,
    v.merged_into_id,
    v.confidence,
    v.fact_id,
    {schema}.kind_name(a.kind) as kind
from {schema}.fact as f
cross join lateral {schema}.answer_at(f.fact_no, now(), null) as a
cross join lateral unnest(case a.kind when 1 then array[a.winner] else a.versions end) as n (version_no)
inner join {schema}.labelled_version as v on f.fact_no = v.fact_no and n.version_no = v.version_no
where a.kind > 0;

-- Every fact's answers over both clocks, unknown ones too; known_during starts where the fact is first known.
-- A fact of more than 500 versions side by side is one line of kind not_drawn: its stretches name them all, so they
-- grow with their square; resolve answers for it at any two instants.
create view {schema}.memory_timeline as
select
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.fact_id,
    coalesce({schema}.kind_name(r.kind), 'not_drawn') as kind,
    case when r.kind is null then 'timeline_too_large' else {schema}.reason_name(r.reason) end as reason,
    case r.kind when 1 then v.values_json -> 0 end as value_json,
    case when r.kind > 1 then v.values_json end as values_json,
    coalesce(v.version_ids, '{}') as version_ids,
    tstzrange(r.valid_from, r.valid_to) as valid_during,
    tstzrange(r.known_from, r.known_to) as known_during
from {schema}.fact as f
left join lateral {schema}.rectangles(case when f.lane_mode = 0 or f.versions <= 500 then f.fact_no end) as r on true
left join lateral (
    select
        jsonb_agg(one.value_json order by one.version_id) as values_json,
        array_agg(one.version_id order by one.version_id) as version_ids
    from {schema}.version as one
    where one.fact_no = f.fact_no and one.version_no = any(r.versions)
) as v on r.kind > 0;
