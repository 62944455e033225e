-- Some differences of each class that are there now, the unknown ones first, the newest first among their like.
select
    n.fact_id,
    n.tenant_id,
    coalesce(n.subject_label, n.subject_id::text) as subject,
    n.scope_kind || ':' || n.scope_key as scope,
    n.fact_key,
    lower(n.valid_during) as valid_from,
    upper(n.valid_during) as valid_to,
    n.valid_during is null as is_behind,
    n.stretches,
    n.class,
    n.reason,
    n.old_said,
    n.new_said,
    n.first_seen_at,
    n.last_seen_at
from (
    select
        d.*,
        row_number() over (partition by d.class order by d.first_seen_at desc, d.number desc) as place
    from chronofact.shadow_difference as d
    where
        d.shadow_id = %(shadow_id)s
        and d.settled_at is null
        and (%(tenant_id)s::uuid is null or d.tenant_id = %(tenant_id)s)
        and (%(class)s::text is null or d.class = %(class)s)
) as n
where n.place <= %(samples)s
order by n.class = 'unknown' desc, n.class asc, n.place asc
