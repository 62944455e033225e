-- Whether any tenant reads a projection.
select count(*) > 0 as is_routed
from chronofact.tenant_route as t
where t.projection = %(projection)s
