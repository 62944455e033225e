-- The projections of a comparison as the snapshot has them.
select
    p.name,
    p.rule,
    p.state,
    clock_timestamp() as now_at
from chronofact.projection as p
where p.name in (%(old)s, %(new)s)
