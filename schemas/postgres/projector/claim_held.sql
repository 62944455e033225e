-- The keys of a partition whose later messages have to park behind an earlier one.
select distinct p.message_key
from chronofact.parked_event as p
where
    p.projection = %(projection)s and p.topic_id = %(topic_id)s and p.partition = %(partition)s
    and p.message_key is not null
