-- Pairs that wait for a verdict, the longest so first: of one memory, or of a subject's; with the beginnings of both
-- texts, and since when they hold.
with about as materialized (
    select f.*
    from {schema}.fact as f
    where
        f.tenant_id = %(tenant_id)s
        {filters}
),

undecided as (
    select
        a.fact_no,
        a.fact_id,
        u.*
    from about as a
    cross join lateral {schema}.undecided_at(a.fact_no, null) as u
    where %(version_id)s::uuid is null or %(version_id)s in (u.version_id, u.other_version_id)
),

waiting as (
    select
        p.fact_no,
        p.fact_id,
        p.left_version_id,
        p.right_version_id,
        min(p.reason) as reason,
        min(p.recorded_at) as recorded_at
    from (
        select
            u.fact_no,
            u.fact_id,
            least(u.version_id, coalesce(u.other_version_id, u.version_id)) as left_version_id,
            case
                when u.other_version_id is not null then greatest(u.version_id, u.other_version_id)
            end as right_version_id,
            u.reason,
            u.recorded_at
        from undecided as u
    ) as p
    group by p.fact_no, p.fact_id, p.left_version_id, p.right_version_id
    order by min(p.recorded_at), p.fact_id, p.left_version_id, p.right_version_id
    limit %(limit)s
)

select
    w.left_version_id,
    w.right_version_id,
    w.reason,
    w.recorded_at as since,
    extract(epoch from now() - w.recorded_at)::double precision as age_s,
    left(l.value_json #>> '{}', %(chars_max)s) as left_text,
    left(r.value_json #>> '{}', %(chars_max)s) as right_text,
    l.valid_from as left_valid_from,
    r.valid_from as right_valid_from,
    w.fact_id,
    f.subject_id,
    f.subject_label,
    f.scope_kind,
    f.scope_key,
    f.fact_key
from waiting as w
inner join about as f on w.fact_no = f.fact_no
left join {schema}.version as l on w.fact_no = l.fact_no and w.left_version_id = l.version_id
left join {schema}.version as r on w.fact_no = r.fact_no and w.right_version_id = r.version_id
order by w.recorded_at, w.fact_id, w.left_version_id, w.right_version_id
