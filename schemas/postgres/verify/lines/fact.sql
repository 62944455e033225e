-- Heads.
select
    t.fact_no,
    json_build_object(
        'fact_id', t.fact_id,
        'tenant_id', t.tenant_id,
        'subject_id', t.subject_id,
        'scope_kind', t.scope_kind,
        'scope_key', t.scope_key,
        'fact_key', t.fact_key,
        'subject_label', t.subject_label,
        'event_seq', t.event_seq,
        'recorded_at', t.recorded_at,
        'versions', t.versions,
        'lane_mode', t.lane_mode,
        'painted', t.painted,
        'conflicts_open', t.conflicts_open,
        'state_hash', t.state_hash,
        'partition', t.fact_no >> 40
    )::text as said
from {schema}.fact as t
where {which}
