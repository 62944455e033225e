-- What the last finished verification of each two projections found, of those that there are.
select distinct on (v.left_projection, v.right_projection)
    v.left_projection,
    v.right_projection,
    v.differences
from chronofact.verification as v
inner join chronofact.projection as l on v.left_projection = l.name
inner join chronofact.projection as r on v.right_projection = r.name
where v.state = 'finished'
order by v.left_projection asc, v.right_projection asc, v.verification_id desc
