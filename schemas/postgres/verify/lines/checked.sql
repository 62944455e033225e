-- Checks of memories; their reason as a hash.
select
    t.fact_no,
    json_build_object(
        'event_id', t.event_id,
        'event_seq', t.event_seq,
        'version_id', t.version_id,
        'pairs', t.pairs,
        'decided', t.decided,
        'pending', t.pending,
        'reason_sha256', encode(sha256(convert_to(t.reason, 'UTF8')), 'hex'),
        'llm_call_made', t.llm_call_made
    )::text as said
from {schema}.checked as t
where {which}
