-- How much of a part is read, and into how many buckets; none where the part is another's by now.
update chronofact.rebuild_part as p
set
    messages_read = %(messages_read)s,
    buckets = case p.buckets when 0 then %(buckets)s else p.buckets end,
    state = %(state)s,
    updated_at = clock_timestamp()
from chronofact.rebuild as r
where
    p.rebuild_id = %(rebuild_id)s and p.partition = %(partition)s
    and p.owner_epoch = %(epoch)s and p.owner_worker = %(worker)s
    and r.rebuild_id = p.rebuild_id and r.epoch = %(epoch)s
returning p.buckets, r.cancel_asked_at is not null as is_cancelled
