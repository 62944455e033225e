-- How far projections have come, in one snapshot, and how to look at it again.
select
    p.name,
    p.rule,
    p.state,
    exists (select from chronofact.tenant_route as r where r.projection = p.name) as serves,
    (array_agg(c.topic_id order by c.next_offset desc) filter (where c.topic_id is not null))[1] as topic_id,
    coalesce(array_agg(c.partition order by c.partition) filter (where c.next_offset > 0), array[]::smallint[]) as partitions,
    coalesce(array_agg(c.next_offset order by c.partition) filter (where c.next_offset > 0), array[]::bigint[]) as next_offsets
from chronofact.projection as p
left join chronofact.checkpoint as c on p.name = c.projection
where p.name = any(%(projections)s)
group by p.name
