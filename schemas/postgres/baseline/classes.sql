-- Differences by tenant, class and reason.
select
    b.tenant_id,
    b.class,
    b.why,
    count(*) as facts
from beside as b
where b.class is not null and (%(tenant_id)s::uuid is null or b.tenant_id = %(tenant_id)s)
group by b.tenant_id, b.class, b.why
order by b.tenant_id, b.class, b.why
