-- How far a projection has come in one partition, and of which topic.
select
    c.topic_id,
    c.next_offset
from chronofact.checkpoint as c
where c.projection = %(projection)s and c.partition = %(partition)s
