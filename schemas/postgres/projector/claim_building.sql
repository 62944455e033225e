-- Whether a rebuild loads the projection just now; until the claim is over it does not begin to.
select 1
from chronofact.projection as p
where p.name = %(projection)s and p.state = 'building'
for share
