-- Become a rebuild's runner; what an older one writes from now on changes nothing, nor what one of the same number does
-- that a lost database had: its epochs began with an earlier second.
update chronofact.rebuild as r
set
    epoch = greatest(r.epoch + 1, extract(epoch from clock_timestamp())::bigint),
    heartbeat_at = clock_timestamp(),
    waiting = null
where r.rebuild_id = %(rebuild_id)s and r.state not in ('ready', 'cancelled')
returning r.epoch
