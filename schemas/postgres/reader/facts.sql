-- One page of a subject's facts with their answers, by scope and key.
select
    f.fact_id,
    f.scope_kind,
    f.scope_key,
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
        one.fact_no,
        one.fact_id,
        one.scope_kind,
        one.scope_key,
        one.fact_key,
        one.subject_label,
        case
            when %(next_offsets)s::bigint[] is null then %(system_as_of)s::timestamptz
            else {schema}.known_by(one.fact_no, %(next_offsets)s, %(system_as_of)s)
        end as as_of
    from {schema}.fact as one
    where
        one.tenant_id = %(tenant_id)s
        and one.subject_id = %(subject_id)s
        and (one.scope_kind, one.scope_key, one.fact_key) > (%(after_kind)s, %(after_scope)s, %(after_key)s)
        and (%(next_offsets)s::bigint[] is null or {schema}.lies_below(one.fact_no, 1, %(next_offsets)s))
        {filters}
    order by one.tenant_id, one.subject_id, one.scope_kind, one.scope_key, one.fact_key
    limit %(limit)s
) as f
cross join lateral {schema}.read_at(f.fact_no, %(valid_at)s, f.as_of) as r
