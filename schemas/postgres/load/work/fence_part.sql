-- Held until the bucket is written: nobody else writes of this part meanwhile.
select
    p.buckets_done,
    r.cancel_asked_at is not null as is_cancelled
from chronofact.rebuild_part as p
inner join chronofact.rebuild as r on p.rebuild_id = r.rebuild_id
where
    p.rebuild_id = %(rebuild_id)s and p.partition = %(partition)s
    and p.owner_epoch = %(epoch)s and p.owner_worker = %(worker)s and r.epoch = %(epoch)s
for update of p
