-- Declared relations; their reason as a hash.
select
    t.fact_no,
    json_build_object(
        'event_id', t.event_id,
        'event_seq', t.event_seq,
        'left_version_id', t.left_version_id,
        'right_version_id', t.right_version_id,
        'relation', t.relation,
        'newer_version_id', t.newer_version_id,
        'decided_at', t.decided_at,
        'decided_by', t.decided_by,
        'reason_sha256', encode(sha256(convert_to(t.reason, 'UTF8')), 'hex'),
        'llm_call_made', t.llm_call_made,
        'model', t.model
    )::text as said
from {schema}.relation as t
where {which}
