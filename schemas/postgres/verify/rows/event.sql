-- Every event.
select
    t.fact_no,
    hash_record_extended((
        t.event_seq, t.event_id, timestamptz_send(t.recorded_at), t.event_type, t.version_ids, t.canonical_payload,
        t.payload_hash, t.kafka_partition, int8send(t.kafka_offset)
    ), int8xor(t.event_seq, {key})) as h
from {schema}.event as t
where {which}
