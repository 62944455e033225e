-- A subject's facts in a chain of scopes with their answers, nearest scope first, then by key. Of many values it is not
-- said how long all of them stay the same: each has its own stretch, and to find that one takes ten times as long.
select
    f.place,
    f.fact_id,
    f.fact_key,
    f.as_of,
    f.fact_no,
    f.subject_label,
    r.kind,
    r.reason,
    r.versions,
    r.valid_from,
    r.valid_to,
    r.version_id,
    r.value_json,
    r.recorded_at,
    r.agreeing
from (
    select
        s.place,
        one.fact_no,
        one.fact_id,
        one.fact_key,
        one.subject_label,
        one.lane_mode,
        case
            when %(next_offsets)s::bigint[] is null then %(system_as_of)s::timestamptz
            else {schema}.known_by(one.fact_no, %(next_offsets)s, %(system_as_of)s)
        end as as_of
    from unnest(%(scope_kinds)s::text[], %(scope_keys)s::text[]) with ordinality as s (scope_kind, scope_key, place)
    inner join {schema}.fact as one
        on
            s.scope_kind = one.scope_kind
            and s.scope_key = one.scope_key
            and one.tenant_id = %(tenant_id)s
            and one.subject_id = %(subject_id)s
            and starts_with(one.fact_key, %(prefix)s)
            and (%(next_offsets)s::bigint[] is null or {schema}.lies_below(one.fact_no, 1, %(next_offsets)s))
    order by s.place, one.fact_key
    limit %(limit)s
) as f
left join lateral (
    select true as lanes_say
    from {schema}.top_at(f.fact_no, 0, %(valid_at)s, f.as_of) as top
    where f.lane_mode > 0 and top.kind = 3
    offset 0
) as many on true
-- "offset 0" keeps each condition a gate before its function, not a filter behind it
cross join lateral (
    select one.*
    from {schema}.read_at(f.fact_no, %(valid_at)s, f.as_of) as one
    where many.lanes_say is null
    union all
    select
        lanes.kind,
        lanes.reason,
        lanes.versions,
        null::timestamptz,
        null::timestamptz,
        null::uuid,
        null::json,
        null::timestamptz,
        null::uuid[]
    from {schema}.lanes_at(f.fact_no, %(valid_at)s, f.as_of) as lanes
    where many.lanes_say
) as r
