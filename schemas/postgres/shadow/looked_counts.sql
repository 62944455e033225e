-- How many facts there are, and what was found of them.
select
    (select count(*) from {new}.fact) + count(*) filter (where l.new_no is null) as facts,
    count(*) filter (where l.is_in_flight) as in_flight,
    count(*) filter (where not l.is_in_flight) as differing
from looked as l
