-- A comparison that can't go on.
update chronofact.shadow as s
set state = 'over', ended_at = clock_timestamp(), failure = %(failure)s
where s.shadow_id = %(shadow_id)s and s.state = 'open'
