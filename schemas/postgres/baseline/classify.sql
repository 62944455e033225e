-- What each difference is. A value has moved where one side says it in one scope and the other one in another, of the
-- same subject and key, and neither of them in both.
update beside as b
set class = n.class, why = n.why
from (
    select
        one.fact_id,
        case
            when one.kind = 2 then 'discovered_conflict'
            when moved.is_there then 'scope_change'
            when one.fact_no is null then 'unknown'
            else 'correcting'
        end as class,
        case
            when one.kind = 2 then 'conflict'
            when moved.is_there then 'moved'
            when one.fact_no is null then 'never_recorded'
            when one.line is null then 'only_ours'
            when one.kind = 0 then {schema}.reason_name(one.reason)
            when one.ours && one.theirs then 'one_of_several'
            when said.is_there then 'held_before'
            else 'value_never_recorded'
        end as why
    from beside as one
    left join lateral (
        select true as is_there
        from beside as other
        where
            other.tenant_id = one.tenant_id
            and other.subject_id = one.subject_id
            and other.fact_key = one.fact_key
            and (other.scope_kind <> one.scope_kind or other.scope_key <> one.scope_key)
            and not other.is_equal
            and other.class is null
            and (
                (other.kind in (1, 3) and other.ours && one.theirs and not coalesce(other.ours && other.theirs, false))
                or (one.kind in (1, 3) and one.ours && other.theirs and not coalesce(one.ours && one.theirs, false))
            )
        limit 1
    ) as moved on true
    left join lateral (
        select true as is_there
        from {schema}.version as v
        where v.fact_no = one.fact_no and {schema}.value_key(v.value_json, v.value_hash) = any(one.theirs)
        limit 1
    ) as said on true
    where not one.is_equal and one.class is null
) as n
where b.fact_id = n.fact_id
