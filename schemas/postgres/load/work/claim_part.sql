-- A worker's next part: first what it had before it died, then the largest that no worker of this runner has.
with found as (
    select p.partition
    from chronofact.rebuild_part as p
    inner join chronofact.rebuild as r on p.rebuild_id = r.rebuild_id
    where
        p.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s
        and p.state in ('waiting', 'reading', 'folding')
        and (p.owner_epoch is distinct from %(epoch)s or p.owner_worker = %(worker)s)
    order by p.owner_epoch is not distinct from %(epoch)s desc, p.target desc, p.partition asc
    limit 1
    for update of p skip locked
)

update chronofact.rebuild_part as p
set
    state = 'reading',
    messages_read = 0,
    owner_epoch = %(epoch)s,
    owner_worker = %(worker)s,
    updated_at = clock_timestamp()
from found as f
where p.rebuild_id = %(rebuild_id)s and p.partition = f.partition
returning p.partition, p.target, p.buckets, p.buckets_done, p.fact_no_last
