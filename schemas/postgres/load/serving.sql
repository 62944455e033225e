-- Whether the projection is this rebuild's, and whether anybody may read it.
select
    exists(
        select from chronofact.rebuild_part as p
        where p.rebuild_id = %(rebuild_id)s
    ) as is_mine,
    exists (
        select from chronofact.projection as p
        where p.name = %(projection)s and p.state in ('ready', 'live', 'retired')
    ) or exists (
        select from chronofact.tenant_route as t
        where t.projection = %(projection)s
    ) as is_serving
