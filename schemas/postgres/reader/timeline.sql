-- One page of a fact's rectangles as they were known then, by when they became known and then by valid time.
select
    r.kind,
    r.reason,
    r.versions,
    r.valid_from,
    r.valid_to,
    r.known_from,
    case when r.known_to <= coalesce(%(system_as_of)s::timestamptz, 'infinity') then r.known_to end as known_to
from {schema}.rectangles(%(fact_no)s) as r
where r.known_from <= coalesce(%(system_as_of)s::timestamptz, 'infinity')
order by r.known_from, r.valid_from nulls first
limit %(limit)s offset %(after)s
