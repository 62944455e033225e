-- The line for all others, first, and every tenant's line that names the same projection.
select
    r.tenant_id,
    r.projection,
    true as has_line
from chronofact.tenant_route as r
where r.projection = (select d.projection from chronofact.tenant_route as d where d.tenant_id is null)
order by r.tenant_id asc nulls first
