-- Whom and what facts are about.
select
    f.fact_no,
    f.fact_id,
    f.tenant_id,
    f.subject_id,
    f.subject_label,
    f.scope_kind,
    f.scope_key,
    f.fact_key
from {schema}.fact as f
where f.fact_id = any(%(fact_ids)s)
