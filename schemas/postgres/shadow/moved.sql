-- A value that is gone from one scope and has come to another one of the same subject and key, at the same instants:
-- both ends are a change of scope, as long as both are explained.
update chronofact.shadow_difference as d
set class = case when m.is_moved then 'scope_change' else 'correcting' end
from (
    select
        one.number,
        coalesce(elsewhere.is_there, false) as is_moved
    from chronofact.shadow_difference as one
    left join lateral (
        select true as is_there
        from chronofact.shadow_difference as other
        where
            other.shadow_id = one.shadow_id
            and other.tenant_id = one.tenant_id
            and other.subject_id = one.subject_id
            and other.fact_key = one.fact_key
            and (other.scope_kind <> one.scope_kind or other.scope_key <> one.scope_key)
            and other.settled_at is null
            and other.class in ('correcting', 'scope_change')
            and (other.come && one.gone or other.gone && one.come)
            and other.valid_during && one.valid_during
        limit 1
    ) as elsewhere on true
    where
        one.shadow_id = %(shadow_id)s
        and one.settled_at is null
        and one.class in ('correcting', 'scope_change')
) as m
where
    d.shadow_id = %(shadow_id)s
    and d.number = m.number
    and (d.class = 'scope_change') <> m.is_moved
