-- Events; the payload as a hash.
select
    t.fact_no,
    json_build_object(
        'event_seq', t.event_seq,
        'event_id', t.event_id,
        'recorded_at', t.recorded_at,
        'event_type', t.event_type,
        'version_ids', t.version_ids,
        'canonical_payload_sha256', encode(sha256(convert_to(t.canonical_payload, 'UTF8')), 'hex'),
        'payload_hash', t.payload_hash,
        'kafka_partition', t.kafka_partition,
        'kafka_offset', t.kafka_offset
    )::text as said
from {schema}.event as t
where {which}
