-- Other projections of the topic that hold more of it, and how much more.
select
    o.projection,
    sum(o.next_offset - coalesce(m.next_offset, 0))::bigint as messages
from chronofact.checkpoint as o
inner join chronofact.projection as p on o.projection = p.name and p.state <> 'failed'
left join chronofact.checkpoint as m
    on m.projection = %(projection)s and o.topic_id = m.topic_id and o.partition = m.partition
where
    o.topic_id = %(topic_id)s
    and o.projection <> %(projection)s
    and o.next_offset > coalesce(m.next_offset, 0)
group by o.projection
order by messages desc, o.projection asc
