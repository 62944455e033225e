-- What only one of two projections has parked, wherever it lies: by its bytes, and when it was appended.
select count(*)
from (
    select
        p.message_key,
        p.message,
        p.appended_at,
        count(*) filter (where p.projection = %(projection)s) as in_one,
        count(*) filter (where p.projection = %(other_projection)s) as in_other
    from chronofact.parked_event as p
    where p.projection in (%(projection)s, %(other_projection)s)
    group by p.message_key, p.message, p.appended_at
) as each
where each.in_one <> each.in_other
