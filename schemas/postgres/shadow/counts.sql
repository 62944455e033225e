-- What is kept, by tenant and class: differences that are there now, the facts that have them, and what has settled.
select
    d.tenant_id,
    d.class,
    coalesce(sum(d.stretches) filter (where d.settled_at is null), 0)::bigint as differences,
    count(distinct d.fact_id) filter (where d.settled_at is null) as facts,
    coalesce(sum(d.stretches) filter (where d.settled_at is not null), 0)::bigint as settled
from chronofact.shadow_difference as d
where d.shadow_id = %(shadow_id)s and (%(tenant_id)s::uuid is null or d.tenant_id = %(tenant_id)s)
group by d.tenant_id, d.class
order by d.tenant_id, d.class
