-- The projection that a topic is to be refilled from: its state, its leaves, and where it stands in which topics.
select
    p.state,
    (
        select count(*)
        from pg_inherits as i
        where i.inhparent = to_regclass(format('%%I.event', p.name))
    ) as leaves,
    array_remove(array_agg(c.topic_id order by c.partition), null) as topic_ids,
    array_remove(array_agg(c.partition order by c.partition), null) as partitions,
    array_remove(array_agg(c.next_offset order by c.partition), null) as next_offsets
from chronofact.projection as p
left join chronofact.checkpoint as c on p.name = c.projection and c.next_offset > 0
where p.name = %(projection)s
group by p.name
