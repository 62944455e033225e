-- Verifications whose process died: nobody else holds these locks, so none is at work.
update chronofact.verification as v
set state = 'failed', finished_at = clock_timestamp(), failure = %(failure)s, failure_code = 'died', remedy = %(remedy)s
where v.state = 'running' and array[v.left_projection, v.right_projection] && %(projections)s::text[]
