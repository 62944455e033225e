-- Of each line the newest switch that no rollback has taken back.
select distinct on (t.tenant_id)
    t.tenant_id,
    c.number,
    c.from_projection,
    c.to_projection,
    c.changed_at
from unnest(%(tenant_ids)s::uuid[]) as t (tenant_id)
inner join chronofact.route_change as c on t.tenant_id is not distinct from c.tenant_id
where
    c.kind = 'switch'
    and not exists (select from chronofact.route_change as u where u.undoes = c.number)
order by t.tenant_id asc, c.number desc
