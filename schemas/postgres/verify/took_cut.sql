-- At which cut it compares.
update chronofact.verification as v
set cut_at = clock_timestamp(), topic_id = %(topic_id)s, next_offsets = %(next_offsets)s
where v.verification_id = %(verification_id)s
