-- A new verification.
insert into chronofact.verification (left_projection, right_projection, rule_left, rule_right, aspects)
select
    l.name as left_projection,
    r.name as right_projection,
    l.rule as rule_left,
    r.rule as rule_right,
    %(aspects)s
from chronofact.projection as l
cross join chronofact.projection as r
where l.name = %(left_projection)s and r.name = %(right_projection)s
returning verification_id
