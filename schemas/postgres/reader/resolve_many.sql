-- Answers in the order of the questions.
select
    f.fact_no,
    f.subject_label,
    r.kind,
    r.reason,
    r.versions,
    r.valid_from,
    r.valid_to,
    r.version_id,
    r.value_json,
    r.recorded_at,
    r.agreeing
from unnest(%(fact_ids)s, %(valid_ats)s, %(system_as_ofs)s) as q (fact_id, valid_at, system_as_of)
left join {schema}.fact as f on q.fact_id = f.fact_id
left join lateral {schema}.read_at(f.fact_no, q.valid_at, q.system_as_of) as r on true
