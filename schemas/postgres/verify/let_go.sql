-- The projection may go on.
update chronofact.checkpoint as c
set stop_at = null, stop_until = null
where c.projection = %(projection)s and c.stop_until is not null
