-- Heads of some facts whose events are to be folded with what follows them in the log.
select
    f.fact_id,
    f.tenant_id,
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
where f.fact_id = any(%(fact_ids)s)
