-- The projection that each of these tenants reads, and how far it has come in a partition of that topic; zero where it
-- has read nothing of it, no projection where nothing is read. place is that in the arrays.
with routed as (
    select
        asked.*,
        (
            select r.projection
            from chronofact.tenant_route as r
            where r.tenant_id = asked.tenant_id or r.tenant_id is null
            order by r.tenant_id nulls last
            limit 1
        ) as projection
    from
        unnest(%(tenant_ids)s::uuid[], %(topic_ids)s::uuid[], %(partitions)s::integer[])
        with ordinality as asked (tenant_id, topic_id, partition, place)
)

select
    r.place,
    r.projection,
    coalesce(c.next_offset, 0) as next_offset
from routed as r
left join
    chronofact.checkpoint as c
    on r.projection = c.projection and r.partition = c.partition and r.topic_id = c.topic_id
order by r.place
