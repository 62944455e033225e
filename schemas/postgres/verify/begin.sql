-- A new verification.
insert into chronofact.verification (left_projection, right_projection, rule_left, rule_right, aspects)
select
    l.name,
    r.name,
    l.rule,
    r.rule,
    %(aspects)s
from chronofact.projection as l
cross join chronofact.projection as r
where l.name = %(left)s and r.name = %(right)s
returning verification_id
