-- A projection that nobody reads is fed no more.
update chronofact.projection
set state = 'retired', retired_at = clock_timestamp(), retired_why = %(reason)s
where name = %(projection)s
