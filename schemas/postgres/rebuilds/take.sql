-- Become a rebuild's runner; what an older one writes from now on changes nothing.
update chronofact.rebuild as r
set epoch = r.epoch + 1, heartbeat_at = clock_timestamp(), waiting = null
where r.rebuild_id = %(rebuild_id)s and r.state not in ('ready', 'cancelled')
returning r.epoch
