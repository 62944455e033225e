-- Whether a rebuild loads the projection just now. One begins so and is never so again: nothing is to be locked.
select 1
from chronofact.projection as p
where p.name = %(projection)s and p.state = 'building'
