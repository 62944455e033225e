-- What versions say.
select
    v.fact_no,
    v.version_no,
    v.version_id,
    v.value_json,
    v.source_id,
    v.valid_from
from unnest(%(fact_nos)s, %(version_nos)s) as q (fact_no, version_no)
inner join {schema}.version as v on q.fact_no = v.fact_no and q.version_no = v.version_no
