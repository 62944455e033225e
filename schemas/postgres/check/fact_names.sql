-- Whom and what facts are about, by their ids or numbers.
select
    f.fact_no,
    f.fact_id,
    coalesce(f.subject_label, f.subject_id::text) as subject,
    f.scope_kind || ':' || f.scope_key as scope,
    f.fact_key,
    f.tenant_id
from {schema}.fact as f
where f.fact_id = any(%(fact_ids)s::uuid[]) or f.fact_no = any(%(fact_nos)s::bigint[])
