-- How far a projection has come in each partition, and who has it: 0 where nobody has claimed it.
select
    c.partition,
    c.next_offset,
    c.epoch
from chronofact.checkpoint as c
where c.projection = %(projection)s and c.topic_id = %(topic_id)s
