-- Move the heads of known facts forward.
update {schema}.fact as f
set
    event_seq = h.event_seq,
    recorded_at = h.recorded_at,
    versions = h.versions,
    lane_mode = h.lane_mode,
    painted = h.painted,
    conflicts_open = h.conflicts_open,
    state_hash = h.state_hash,
    subject_label = coalesce(f.subject_label, h.subject_label)
from head_staged as h
where f.fact_no = h.fact_no and f.event_seq < h.event_seq
