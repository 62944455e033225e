-- Both sides of every fact that either one answers at the instant, of the tenants that the user's table names.
create temporary table beside as
with ours as (
    select
        f.fact_no,
        f.fact_id,
        f.tenant_id,
        f.subject_id,
        coalesce(f.subject_label, f.subject_id::text) as subject,
        f.scope_kind,
        f.scope_key,
        f.fact_key,
        a.kind,
        a.reason,
        a.versions,
        a.winner,
        a.valid_from,
        a.valid_to,
        v.value_keys
    from {schema}.fact as f
    cross join lateral {schema}.answer_at(f.fact_no, %(at)s, null) as a
    left join lateral (
        select array_agg(distinct n.value_key order by n.value_key) as value_keys
        from {schema}.version as one
        cross join lateral (values ({schema}.value_key(one.value_json, one.value_hash))) as n (value_key)
        where
            one.fact_no = f.fact_no
            and one.version_no = any(case a.kind when 1 then array[a.winner] else a.versions end)
    ) as v on a.kind > 0
    where f.tenant_id in (select t.tenant_id from theirs as t)
)

select
    t.line,
    o.fact_no,
    coalesce(o.fact_id, t.fact_id) as fact_id,
    coalesce(o.tenant_id, t.tenant_id) as tenant_id,
    coalesce(o.subject_id, t.subject_id) as subject_id,
    coalesce(o.subject, t.subject) as subject,
    coalesce(o.scope_kind, t.scope_kind) as scope_kind,
    coalesce(o.scope_key, t.scope_key) as scope_key,
    coalesce(o.fact_key, t.fact_key) as fact_key,
    coalesce(o.kind, 0::smallint) as kind,
    o.reason,
    o.versions,
    o.winner,
    o.valid_from,
    o.valid_to,
    o.value_keys as ours,
    t.value_keys as theirs,
    t.part_keys,
    t.shown,
    case
        when t.line is null then false
        when o.kind = 1 then o.value_keys && t.value_keys
        when o.kind = 3
            then
                coalesce(o.value_keys = t.part_keys, false)
                or (cardinality(o.value_keys) = 1 and o.value_keys && t.value_keys)
        else false
    end as is_equal,
    null::text as class,
    null::text as why
from ours as o
full join theirs as t on o.fact_id = t.fact_id
where t.line is not null or o.kind > 0
