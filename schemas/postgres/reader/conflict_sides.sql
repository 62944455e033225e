-- Some conflict edges with both versions, the review or the decision that counts.
select
    c.relation,
    c.recorded_at,
    extract(epoch from now() - c.recorded_at)::double precision as age_s,
    f.fact_id,
    f.fact_no,
    f.subject_id,
    f.subject_label,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.conflicts_open,
    c.left_version_id,
    l.value_json as left_value,
    l.valid_from as left_from,
    {schema}.held_until(l.fact_no, l.version_id, l.valid_to, null) as left_to,
    l.source_id as left_source,
    l.recorded_at as left_recorded_at,
    c.right_version_id,
    r.value_json as right_value,
    r.valid_from as right_from,
    {schema}.held_until(r.fact_no, r.version_id, r.valid_to, null) as right_to,
    r.source_id as right_source,
    r.recorded_at as right_recorded_at,
    pending.version_id as pending_version_id,
    d.event_id,
    d.keep,
    d.decided_at,
    d.decided_by,
    d.reason
from unnest(%(fact_nos)s, %(lefts)s, %(rights)s) with ordinality as q (fact_no, left_id, right_id, place)
inner join {schema}.conflict as c
    on q.fact_no = c.fact_no and q.left_id = c.left_version_id and q.right_id = c.right_version_id
inner join {schema}.fact as f on c.fact_no = f.fact_no
left join {schema}.version as l on c.fact_no = l.fact_no and c.left_version_id = l.version_id
left join {schema}.version as r on c.fact_no = r.fact_no and c.right_version_id = r.version_id
left join lateral (
    select one.pending_version_id as version_id
    from {schema}.contradictions_at(c.fact_no, null) as one
    where
        c.relation = 'OPEN'
        and one.left_version_id = c.left_version_id
        and one.right_version_id = c.right_version_id
        and exists (select from {schema}.relation as said where said.fact_no = c.fact_no)
) as pending on true
left join lateral (
    select one.*
    from {schema}.decision_at(c.fact_no, c.left_version_id, c.right_version_id, null) as one
    where c.relation = 'RESOLVED'
) as d on true
order by q.place
