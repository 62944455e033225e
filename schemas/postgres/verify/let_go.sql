-- The projection may go on.
with locked as (
    select
        c.topic_id,
        c.partition
    from chronofact.checkpoint as c
    where c.projection = %(projection)s and c.stop_until is not null
    order by c.partition
    for update
)

update chronofact.checkpoint as c
set stop_at = null, stop_until = null
from locked as l
where c.projection = %(projection)s and c.topic_id = l.topic_id and c.partition = l.partition
