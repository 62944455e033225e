-- Where the reads of some tenants go: by a line of their own, or by the one for all others.
select
    t.tenant_id,
    coalesce(own.projection, fallback.projection) as projection,
    own.projection is not null as has_line
from unnest(%(tenant_ids)s::uuid[]) as t (tenant_id)
left join chronofact.tenant_route as own on t.tenant_id = own.tenant_id
left join chronofact.tenant_route as fallback on fallback.tenant_id is null
