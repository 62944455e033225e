-- The rule of the projection that tenants read by default.
select p.rule
from chronofact.tenant_route as t
inner join chronofact.projection as p on t.projection = p.name
where t.tenant_id is null
