-- Pairs of memories of some facts that wait for a verdict, with both texts; other is null where a check named none.
select
    q.at,
    u.version_id,
    u.other_version_id,
    u.reason,
    u.recorded_at,
    v.value_json as value,
    v.source_id as source,
    o.value_json as other_value,
    o.source_id as other_source
from (
    select
        one.at,
        one.fact_no,
        one.system_as_of
    from unnest(%(ats)s, %(fact_nos)s, %(system_as_ofs)s) as one (at, fact_no, system_as_of)
    where exists (select from {schema}.checked as c where c.fact_no = one.fact_no and c.pending > 0)
    offset 0
) as q
cross join lateral {schema}.undecided_at(q.fact_no, q.system_as_of) as u
inner join {schema}.version as v on q.fact_no = v.fact_no and u.version_id = v.version_id
left join {schema}.version as o on q.fact_no = o.fact_no and u.other_version_id = o.version_id
order by q.at, u.recorded_at, u.version_id, u.other_version_id
