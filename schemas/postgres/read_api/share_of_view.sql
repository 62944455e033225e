-- One projection's share of a view: the tenants that are routed to it, or to none while it is the default.
select v.*
from {schema}.{view} as v
where
    v.tenant_id = any(array(
        select r.tenant_id from chronofact.tenant_route as r
        where r.projection = {projection} and r.tenant_id is not null
    ))
    or (
        {projection} = (select r.projection from chronofact.tenant_route as r where r.tenant_id is null)
        and v.tenant_id <> all(array(
            select r.tenant_id from chronofact.tenant_route as r
            where r.tenant_id is not null
        ))
    )
