-- What a rebuilt projection can be held against: one that serves, of the same topic; rather of the same rule than of
-- another, rather the default one than another.
select
    p.name,
    p.rule
from chronofact.projection as p
where
    p.state in ('live', 'ready') and p.name <> %(projection)s
    and exists (
        select from chronofact.checkpoint as c
        where c.projection = p.name and c.topic_id = %(topic_id)s and c.next_offset > 0
    )
order by
    p.rule <> %(rule)s,
    not exists (
        select from chronofact.tenant_route as t
        where t.projection = p.name and t.tenant_id is null
    ),
    p.name
limit 1
