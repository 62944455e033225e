-- For how long each of these facts says nothing around the instant.
select
    s.valid_from,
    s.valid_to
from unnest(%(fact_nos)s, %(valid_ats)s, %(system_as_ofs)s) as q (fact_no, valid_at, system_as_of)
cross join lateral {schema}.silent_during(q.fact_no, q.valid_at, q.system_as_of) as s
