-- Ask for the end of a rebuild; whoever has it sees it.
update chronofact.rebuild as r
set cancel_asked_at = coalesce(r.cancel_asked_at, clock_timestamp())
where r.rebuild_id = %(rebuild_id)s and r.state not in ('ready', 'cancelled')
