-- Heads of the facts that a batch touches.
select
    f.fact_no,
    f.fact_id,
    f.event_seq,
    f.recorded_at,
    f.lane_mode,
    f.painted,
    f.conflicts_open,
    f.subject_label is not null as has_label
from {schema}.fact as f
where f.fact_id = any(%(fact_ids)s)
