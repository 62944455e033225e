-- The number behind those of all projections, of schemas that look like one, and of rebuilds that were not cancelled.
select coalesce(max(substr(found.name, 2)::bigint), 0) + 1 as number
from (
    select p.name from chronofact.projection as p
    union all
    select r.projection from chronofact.rebuild as r
    where r.state <> 'cancelled'
    union all
    select n.nspname::text from pg_namespace as n
) as found (name)
where found.name ~ '^p[1-9][0-9]{0,5}$'
