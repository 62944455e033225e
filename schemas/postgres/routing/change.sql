-- Lines changed, each with what is kept of it.
with move as (
    select
        m.tenant_id,
        m.from_projection,
        m.to_projection,
        m.undoes
    from
        unnest(
            %(tenant_ids)s::uuid[], %(from_projections)s::text[], %(to_projections)s::text[], %(undoes)s::bigint[]
        ) as m (tenant_id, from_projection, to_projection, undoes)
),

kept as (
    insert into chronofact.route_change (
        tenant_id, from_projection, to_projection, kind, undoes, is_forced, overridden, reason, changed_by
    )
    select
        move.tenant_id,
        move.from_projection,
        move.to_projection,
        %(kind)s,
        move.undoes,
        %(is_forced)s,
        %(overridden)s,
        %(reason)s,
        %(changed_by)s
    from move
)

insert into chronofact.tenant_route (tenant_id, projection)
select
    move.tenant_id,
    move.to_projection
from move
on conflict on constraint tenant_route_one_a_tenant do update set projection = excluded.projection
