-- It is whole.
update chronofact.verification as v
set state = 'finished', finished_at = clock_timestamp(), identical = v.differences = 0
where v.verification_id = %(verification_id)s
