-- The versions of some facts that are under review, as known then.
select distinct
    q.fact_no,
    v.version_no
from unnest(%(fact_nos)s, %(system_as_ofs)s) as q (fact_no, as_of)
cross join lateral {schema}.contradictions_at(q.fact_no, q.as_of) as c
inner join {schema}.version as v on q.fact_no = v.fact_no and c.pending_version_id = v.version_id
