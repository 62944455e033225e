-- Pairs that wait for a verdict, the longest so first: of one memory, or of a subject's.
select
    p.left_version_id,
    p.right_version_id,
    min(p.reason) as reason,
    min(p.recorded_at) as recorded_at,
    p.fact_id
from (
    select
        f.fact_id,
        least(u.version_id, coalesce(u.other_version_id, u.version_id)) as left_version_id,
        case
            when u.other_version_id is not null then greatest(u.version_id, u.other_version_id)
        end as right_version_id,
        u.reason,
        u.recorded_at
    from {schema}.fact as f
    cross join lateral {schema}.undecided_at(f.fact_no, null) as u
    where
        f.tenant_id = %(tenant_id)s
        {filters}
) as p
group by p.fact_id, p.left_version_id, p.right_version_id
order by min(p.recorded_at), p.fact_id, p.left_version_id, p.right_version_id
limit %(limit)s
