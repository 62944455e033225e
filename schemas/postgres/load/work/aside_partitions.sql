-- Partitions with messages set aside that are not applied yet.
select distinct a.partition
from chronofact.rebuild_aside as a
left join chronofact.checkpoint as c
    on c.projection = %(projection)s and c.topic_id = %(topic_id)s and a.partition = c.partition
where a.rebuild_id = %(rebuild_id)s and a.kafka_offset >= coalesce(c.next_offset, 0)
order by a.partition
