-- Which of the tenants are still routed to the projection.
select t.tenant_id
from unnest(%(tenant_ids)s) as t (tenant_id)
where chronofact.serves({projection}, t.tenant_id)
