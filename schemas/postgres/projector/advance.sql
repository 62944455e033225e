-- Lock the checkpoints of a batch in partition order and move those whose epoch is still ours.
with locked as (
    select
        c.partition,
        c.next_offset,
        case when c.stop_until > clock_timestamp() then c.stop_at end as stop_at
    from chronofact.checkpoint as c
    where c.projection = %(projection)s and c.topic_id = %(topic_id)s and c.partition = any(%(partitions)s::smallint[])
    order by c.partition
    for update
)

update chronofact.checkpoint as c
set next_offset = greatest(step.next_offset, l.next_offset)
from locked as l,
    unnest(%(partitions)s::smallint[], %(epochs)s::bigint[], %(next_offsets)s::bigint[])
        as step (
            partition, epoch, next_offset
        )
where
    c.projection = %(projection)s and c.topic_id = %(topic_id)s
    and c.partition = l.partition and c.partition = step.partition and c.epoch = step.epoch
returning c.partition, l.next_offset, l.stop_at
