-- A line where some memory of a subject, not revoked, has not been held against the others yet.
select true as is_unchecked
from {schema}.fact as f
inner join {schema}.memory as t on f.fact_no = t.fact_no
inner join {schema}.labelled_version as v on t.fact_no = v.fact_no and t.version_no = v.version_no
where
    f.tenant_id = %(tenant_id)s
    and f.subject_id = %(subject_id)s
    and v.lifecycle <> 'REVOKED'
    and not exists (
        select from {schema}.checked as c
        where c.version_id = v.id and c.fact_no = t.fact_no
    )
    {filters}
limit 1
