-- Every projection, locked against other changes of routes, and against being retired, until the transaction ends.
select
    p.name,
    p.state,
    p.rule,
    p.live_since,
    to_regnamespace(p.name) is not null as is_there
from chronofact.projection as p
order by p.name
for no key update
