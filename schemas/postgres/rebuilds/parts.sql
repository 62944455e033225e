-- How far each partition of a rebuild has come.
select
    p.partition,
    p.target,
    p.state,
    p.messages_read,
    p.buckets,
    p.buckets_done,
    p.messages,
    p.events,
    p.facts,
    p.parked
from chronofact.rebuild_part as p
where p.rebuild_id = %(rebuild_id)s
order by p.partition
