-- How many tenants' own lines name each projection, and which one the line of all others names.
select
    t.projection,
    count(t.tenant_id) as tenants,
    count(*) filter (where t.tenant_id is null) as others
from chronofact.tenant_route as t
group by t.projection
