-- The projection may be routed to. It is live at once where nobody had a default route, and ready else.
with routed as (
    insert into chronofact.tenant_route (tenant_id, projection)
    values (null, %(projection)s)
    on conflict on constraint tenant_route_one_a_tenant do nothing
    returning projection
)

update chronofact.projection as p
set
    state = case when exists (select from routed) then 'live' else 'ready' end,
    fingerprint = %(fingerprint)s
where p.name = %(projection)s and p.state in ('catching_up', 'verifying', 'ready')
