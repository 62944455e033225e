-- Changes of routes, newest first.
select
    c.number,
    c.tenant_id,
    c.from_projection,
    c.to_projection,
    c.kind,
    c.undoes,
    c.is_forced,
    c.overridden,
    c.reason,
    c.changed_by,
    c.changed_at
from chronofact.route_change as c
where %(before)s::bigint is null or c.number < %(before)s
order by c.number desc
limit %(limit)s
