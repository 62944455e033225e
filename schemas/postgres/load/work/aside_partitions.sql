-- Partitions with messages set aside that are not applied yet.
select p.partition
from chronofact.rebuild_part as p
left join chronofact.checkpoint as c
    on c.projection = %(projection)s and c.topic_id = %(topic_id)s and p.partition = c.partition
where
    p.rebuild_id = %(rebuild_id)s
    and exists (
        select from chronofact.rebuild_aside as a
        where a.rebuild_id = p.rebuild_id and a.partition = p.partition and a.kafka_offset >= coalesce(c.next_offset, 0)
    )
order by p.partition
