-- How far the projection has come, whether the tenant is still routed to it, and whether any fact is held.
select
    p.rule,
    (
        select array_agg(array[c.partition, c.next_offset])
        from chronofact.checkpoint as c
        where c.projection = {projection}
    ) as next_offsets,
    (
        select c.topic_id
        from chronofact.checkpoint as c
        where c.projection = {projection}
        limit 1
    ) as topic_id,
    chronofact.serves({projection}, %(tenant_id)s) as serves,
    exists(select from chronofact.parked_event as e where e.projection = {projection}) as holds
from chronofact.projection as p
where p.name = {projection}
