-- How far the projection has come.
select
    c.topic_id,
    c.partition,
    c.next_offset
from chronofact.checkpoint as c
where c.projection = {projection}
