-- What a command names a fact by.
select
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key
from {schema}.fact as f
where f.fact_id = %(fact_id)s and f.tenant_id = %(tenant_id)s
