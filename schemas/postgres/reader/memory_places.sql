-- The tenant's fact where a version id is known by what was said of it, a check or a relation: at most one.
with said as materialized (
    select c.fact_no from {schema}.checked as c
    where c.version_id = %(version_id)s
    union distinct
    select r.fact_no from {schema}.relation as r
    where r.left_version_id = %(version_id)s
    union distinct
    select r.fact_no from {schema}.relation as r
    where r.right_version_id = %(version_id)s
)

select
    f.fact_no,
    f.fact_id,
    f.scope_kind,
    f.scope_key,
    exists(
        select from {schema}.checked as c
        where c.version_id = %(version_id)s and c.fact_no = f.fact_no
    ) as is_checked,
    f.subject_id,
    f.subject_label,
    f.fact_key
from said as s
cross join
    lateral (
        select one.*
        from {schema}.fact as one
        where one.fact_no = s.fact_no
        offset 0 -- one by one: they are few
    ) as f
where f.tenant_id = %(tenant_id)s
order by f.fact_no
