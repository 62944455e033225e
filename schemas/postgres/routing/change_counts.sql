-- Changes of routes by kind.
select
    c.kind,
    count(*) as changes
from chronofact.route_change as c
group by c.kind
