-- A page of routes, the line for all others first, each with its last change.
select
    r.tenant_id,
    r.projection,
    p.rule,
    p.state,
    c.number,
    c.kind,
    c.is_forced,
    c.reason,
    c.changed_by,
    c.changed_at
from chronofact.tenant_route as r
inner join chronofact.projection as p on r.projection = p.name
left join lateral (
    select
        l.number,
        l.kind,
        l.is_forced,
        l.reason,
        l.changed_by,
        l.changed_at
    from chronofact.route_change as l
    where l.tenant_id is not distinct from r.tenant_id
    order by l.number desc
    limit 1
) as c on true
where
    (r.tenant_id is null and %(after)s::uuid is null)
    or r.tenant_id > coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000'::uuid)
order by r.tenant_id asc nulls first
limit %(limit)s
