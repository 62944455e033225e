-- It came to nothing.
update chronofact.verification as v
set
    state = 'failed',
    finished_at = clock_timestamp(),
    failure = %(failure)s,
    failure_code = %(failure_code)s,
    remedy = %(remedy)s
where v.verification_id = %(verification_id)s and v.state = 'running'
