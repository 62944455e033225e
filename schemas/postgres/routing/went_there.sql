-- Whether reads of all these tenants may go to a projection as to one that was read before: the first of its switches
-- was not forced past any doubt of it (or there was none), or each of them was there.
select
    coalesce((
        select
            not c.overridden && '{route_unverified, route_verification_failed}'
            and not c.overridden && '{route_shadow_absent, route_shadow_open, route_shadow_unknown}'
        from chronofact.route_change as c
        where c.to_projection = %(to_projection)s and c.kind = 'switch'
        order by c.number
        limit 1
    ), true)
    or not exists (
        select from unnest(%(tenant_ids)s::uuid[]) as m (tenant_id)
        where not exists (
            select from chronofact.route_change as c
            where
                c.tenant_id is not distinct from m.tenant_id
                and %(to_projection)s in (c.from_projection, c.to_projection)
        )
    ) as went_there
