-- How far a projection has come in each partition of each topic that it has read.
select
    c.topic_id,
    c.partition::integer as partition,
    c.next_offset
from chronofact.checkpoint as c
where c.projection = %(projection)s
