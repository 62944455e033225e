-- Versions as asserted; the value as a hash.
select
    t.fact_no,
    json_build_object(
        'version_no', t.version_no,
        'version_id', t.version_id,
        'value_json_sha256', encode(sha256(json_send(t.value_json)), 'hex'),
        'value_hash', t.value_hash,
        'valid_from', t.valid_from,
        'valid_to', t.valid_to,
        'recorded_at', t.recorded_at,
        'event_seq', t.event_seq,
        'source_id', t.source_id,
        'source_hash', t.source_hash
    )::text as said
from {schema}.version as t
where {which}
