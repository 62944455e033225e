-- The memories of some facts of which a pair waits for a verdict, as known then.
select distinct
    q.fact_no,
    v.version_no
from unnest(%(fact_nos)s, %(system_as_ofs)s) as q (fact_no, as_of)
cross join lateral {schema}.undecided_at(q.fact_no, q.as_of) as u
inner join {schema}.version as v on q.fact_no = v.fact_no and u.version_id = v.version_id
