-- Pairs of some facts that contradict each other and that nothing has settled, with the side that is under review.
select
    q.at,
    c.left_version_id,
    c.right_version_id,
    c.pending_version_id,
    c.recorded_at,
    l.value_json as left_value,
    l.source_id as left_source,
    r.value_json as right_value,
    r.source_id as right_source
from (
    select
        one.at,
        one.fact_no,
        one.system_as_of
    from unnest(%(ats)s, %(fact_nos)s, %(system_as_ofs)s) as one (at, fact_no, system_as_of)
    where exists (select from {schema}.relation as r where r.fact_no = one.fact_no)
    offset 0
) as q
cross join lateral {schema}.contradictions_at(q.fact_no, q.system_as_of) as c
inner join {schema}.version as l on q.fact_no = l.fact_no and c.left_version_id = l.version_id
inner join {schema}.version as r on q.fact_no = r.fact_no and c.right_version_id = r.version_id
order by q.at, c.left_version_id, c.right_version_id
