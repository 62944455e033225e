-- The projection that a tenant's reads go to.
select r.projection
from chronofact.tenant_route as r
where r.tenant_id = %(tenant_id)s or r.tenant_id is null
order by r.tenant_id nulls last
limit 1
