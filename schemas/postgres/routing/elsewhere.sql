-- How many tenants have a line of their own that names neither of two projections.
select
    r.projection,
    count(*) as tenants
from chronofact.tenant_route as r
where
    r.tenant_id is not null
    and r.projection <> %(to_projection)s
    and r.projection <> (select d.projection from chronofact.tenant_route as d where d.tenant_id is null)
group by r.projection
order by r.projection
