-- A projection that reads go to is live from then on; one that they have left, all of them, knows since when.
update chronofact.projection as p
set
    state = case when i.is_routed then 'live' else p.state end,
    live_since = coalesce(p.live_since, case when i.is_routed and p.state <> 'live' then clock_timestamp() end),
    left_at = case when not i.is_routed then clock_timestamp() end
from (
    select
        n.name,
        exists(select from chronofact.tenant_route as r where r.projection = n.name) as is_routed
    from unnest(%(projections)s::text[]) as n (name)
) as i
where p.name = i.name and i.is_routed is distinct from (p.state = 'live' and p.left_at is null)
