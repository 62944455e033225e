-- Stated edges.
select
    t.fact_no,
    json_build_object(
        'event_id', t.event_id,
        'ordinal', t.ordinal,
        'event_seq', t.event_seq,
        'new_version_id', t.new_version_id,
        'old_version_id', t.old_version_id,
        'effective_at', t.effective_at,
        'mode', t.mode
    )::text as said
from {schema}.edge as t
where {which}
