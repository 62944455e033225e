-- Heads.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.fact as t
cross join lateral (
    select
        t.fact_id,
        t.tenant_id,
        t.subject_id,
        t.scope_kind,
        t.scope_key,
        t.fact_key,
        t.subject_label,
        t.event_seq,
        t.recorded_at,
        t.versions,
        t.lane_mode,
        t.painted,
        t.conflicts_open,
        t.state_hash,
        t.fact_no >> 40 as partition
) as o
where {which}
