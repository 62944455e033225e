-- One page of a fact's rectangles, by when they became known and then by valid time.
select
    r.kind,
    r.reason,
    r.versions,
    r.valid_from,
    r.valid_to,
    r.known_from,
    r.known_to
from {schema}.rectangles(%(fact_no)s) as r
order by r.known_from, r.valid_from nulls first
limit %(limit)s offset %(after)s
