-- The topic that a projection was made from.
select c.topic_id
from chronofact.checkpoint as c
where c.projection = %(projection)s and c.next_offset > 0
limit 1
