-- The versions behind answers: what each says and, as known then, for how long.
select
    q.at,
    v.version_id,
    v.value_json,
    v.value_hash,
    v.valid_from,
    {schema}.held_until(v.fact_no, v.version_id, v.valid_to, q.system_as_of) as valid_to,
    v.source_id,
    v.recorded_at
from unnest(%(ats)s, %(fact_nos)s, %(version_nos)s, %(system_as_ofs)s) as q (at, fact_no, version_no, system_as_of)
inner join {schema}.version as v on q.fact_no = v.fact_no and q.version_no = v.version_no
