-- Facts that the independent SQL could not judge, or is at odds with.
update beside as b
set class = 'unknown', why = w.why
from unnest(%(fact_nos)s::bigint[], %(whys)s::text[]) as w (fact_no, why)
where b.fact_no = w.fact_no
