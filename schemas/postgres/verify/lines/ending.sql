-- Endings.
select
    t.fact_no,
    json_build_object(
        'event_id', t.event_id,
        'event_seq', t.event_seq,
        'version_id', t.version_id,
        'effective_at', t.effective_at
    )::text as said
from {schema}.ending as t
where {which}
