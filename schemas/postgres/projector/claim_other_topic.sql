-- Whether the projection came from another topic of this name: then its offsets mean nothing here.
select c.topic_id
from chronofact.checkpoint as c
where c.projection = %(projection)s and c.topic_id <> %(topic_id)s and c.next_offset > 0
limit 1
