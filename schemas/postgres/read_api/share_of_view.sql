-- One projection's share of a view: the tenants that are routed to it.
select v.*
from {schema}.{view} as v
where
    {projection} = (
        select r.projection
        from chronofact.tenant_route as r
        where r.tenant_id = v.tenant_id or r.tenant_id is null
        order by r.tenant_id asc nulls last
        limit 1
    )
