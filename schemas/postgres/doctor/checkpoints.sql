-- How far a projection has applied each partition of a topic.
select
    c.partition,
    c.next_offset
from chronofact.checkpoint as c
where c.projection = %(projection)s and c.topic_id = %(topic_id)s
