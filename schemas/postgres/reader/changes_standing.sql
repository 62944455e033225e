-- How far each partition has come, and which release of a parked message was its last.
select
    c.partition,
    c.next_offset,
    coalesce((
        select max(r.number)
        from chronofact.released_event as r
        where r.projection = c.projection and r.topic_id = c.topic_id and r.partition = c.partition
    ), 0) as released,
    c.topic_id
from chronofact.checkpoint as c
where c.projection = {projection}
