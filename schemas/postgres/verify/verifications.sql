-- Verifications, newest first; one, or all before it.
select v.*
from chronofact.verification as v
where
    (%(before)s::bigint is null or v.verification_id < %(before)s)
    and (%(verification_id)s::bigint is null or v.verification_id = %(verification_id)s)
order by v.verification_id desc
limit %(limit)s
