-- Projections that reads go to.
select distinct r.projection
from chronofact.tenant_route as r
order by r.projection
