-- One page of a tenant's conflict edges with both versions.
select
    c.fact_no,
    c.left_version_id,
    c.right_version_id,
    c.relation,
    c.recorded_at,
    extract(epoch from now() - c.recorded_at)::double precision as age_s,
    f.fact_id,
    f.subject_id,
    f.subject_label,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.conflicts_open,
    l.value_json as left_value,
    l.valid_from as left_from,
    {schema}.held_until(l.fact_no, l.version_id, l.valid_to, null) as left_to,
    l.source_id as left_source,
    l.recorded_at as left_recorded_at,
    r.value_json as right_value,
    r.valid_from as right_from,
    {schema}.held_until(r.fact_no, r.version_id, r.valid_to, null) as right_to,
    r.source_id as right_source,
    r.recorded_at as right_recorded_at
from {schema}.fact as f
inner join {schema}.conflict as c on f.fact_no = c.fact_no
left join {schema}.version as l on c.fact_no = l.fact_no and c.left_version_id = l.version_id
left join {schema}.version as r on c.fact_no = r.fact_no and c.right_version_id = r.version_id
where
    f.tenant_id = %(tenant_id)s
    and (c.fact_no, c.left_version_id, c.right_version_id) > (%(after_no)s, %(after_left)s, %(after_right)s)
    {filters}
order by c.fact_no, c.left_version_id, c.right_version_id
limit %(limit)s
