-- The versions of some facts that wait for their activation, as known then.
select
    q.fact_no,
    p.version_no
from unnest(%(fact_nos)s, %(system_as_ofs)s) as q (fact_no, as_of)
cross join lateral {schema}.proposals_at(q.fact_no, q.as_of) as p (version_no)
