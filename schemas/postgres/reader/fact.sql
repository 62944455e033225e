-- A fact of the tenant by its id.
select
    f.fact_no,
    f.subject_id,
    f.subject_label,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.event_seq,
    f.versions,
    f.conflicts_open,
    f.lane_mode
from {schema}.fact as f
where f.fact_id = %(fact_id)s and f.tenant_id = %(tenant_id)s
