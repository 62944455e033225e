-- Some versions of one fact.
select
    v.version_no,
    v.version_id,
    v.value_json
from {schema}.version as v
where v.fact_no = %(fact_no)s and v.version_no = any(%(version_nos)s)
