-- Every projection that some tenant's reads go to; first the one of all that have no line of their own.
select r.projection
from chronofact.tenant_route as r
group by r.projection
order by bool_or(r.tenant_id is null) desc, r.projection
