-- Events; the payload as a hash.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.event as t
cross join lateral (
    select
        t.event_seq,
        t.event_id,
        t.recorded_at,
        t.event_type,
        t.version_ids,
        encode(sha256(convert_to(t.canonical_payload, 'UTF8')), 'hex') as canonical_payload_sha256,
        t.payload_hash,
        t.kafka_partition,
        t.kafka_offset
) as o
where {which}
