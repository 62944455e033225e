-- Conflict edges.
select
    t.fact_no,
    json_build_object(
        'left_version_id', t.left_version_id,
        'right_version_id', t.right_version_id,
        'relation', t.relation,
        'event_seq', t.event_seq,
        'recorded_at', t.recorded_at
    )::text as said
from {schema}.conflict as t
where {which}
