-- What speaks for and against letting a projection go.
select
    p.name,
    p.state,
    p.left_at,
    (
        select count(*)
        from chronofact.tenant_route as r
        where r.projection = p.name
    ) as routes,
    p.left_at + make_interval(secs => %(window_s)s) as window_ends_at,
    coalesce(p.left_at + make_interval(secs => %(window_s)s) > clock_timestamp(), false) as is_within_window
from chronofact.projection as p
where p.name = %(projection)s
