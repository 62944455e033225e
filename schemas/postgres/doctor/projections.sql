-- Every projection: its state and rule, how many routes name it, and since when the last one has left it.
select
    p.name,
    p.state,
    p.rule,
    (
        select count(*)
        from chronofact.tenant_route as r
        where r.projection = p.name
    ) as routes,
    p.left_at
from chronofact.projection as p
order by length(p.name), p.name
