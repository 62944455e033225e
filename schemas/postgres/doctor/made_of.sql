-- The topic that each projection was made from.
select
    c.projection,
    (array_agg(c.topic_id order by c.next_offset desc))[1] as topic_id
from chronofact.checkpoint as c
where c.next_offset > 0
group by c.projection
