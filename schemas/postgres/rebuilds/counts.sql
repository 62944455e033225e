-- Rebuilds by state.
select
    r.state,
    count(*) as rebuilds
from chronofact.rebuild as r
group by r.state
