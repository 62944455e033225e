-- The tenant's fact where a version id is known by what was said of it, a check or a relation: at most one.
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
from {schema}.fact as f
where
    f.tenant_id = %(tenant_id)s
    and f.fact_no in (
        select c.fact_no from {schema}.checked as c
        where c.version_id = %(version_id)s
        union all
        select r.fact_no from {schema}.relation as r
        where r.left_version_id = %(version_id)s
        union all
        select r.fact_no from {schema}.relation as r
        where r.right_version_id = %(version_id)s
    )
order by f.fact_no
