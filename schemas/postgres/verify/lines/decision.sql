-- Decisions; their reason as a hash.
select
    t.fact_no,
    json_build_object(
        'event_id', t.event_id,
        'event_seq', t.event_seq,
        'left_version_id', t.left_version_id,
        'right_version_id', t.right_version_id,
        'keep', t.keep,
        'decided_at', t.decided_at,
        'decided_by', t.decided_by,
        'reason_sha256', encode(sha256(convert_to(t.reason, 'UTF8')), 'hex')
    )::text as said
from {schema}.decision as t
where {which}
