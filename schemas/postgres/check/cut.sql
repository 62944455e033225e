-- What a check looks at: the snapshot, and how far the projection has come in it.
select
    pg_export_snapshot() as snapshot,
    clock_timestamp() as cut_at,
    (array_agg(c.topic_id order by c.next_offset desc) filter (where c.topic_id is not null))[1] as topic_id,
    coalesce(array_agg(c.partition order by c.partition) filter (where c.topic_id is not null), '{}') as partitions,
    coalesce(array_agg(c.next_offset order by c.partition) filter (where c.topic_id is not null), '{}') as next_offsets
from chronofact.projection as p
left join chronofact.checkpoint as c on p.name = c.projection
where p.name = %(projection)s
group by p.name
