-- Every event. What is long is hashed apart from the rest, so that no read waits for another.
select
    t.fact_no,
    hashbyteaextended(t.payload_hash, uuid_hash_extended(t.event_id, int8xor(
        int8xor(
            hashbyteaextended(timestamptz_send(t.recorded_at), hashint2extended(
                t.kafka_partition, int8xor(t.kafka_offset, hashint4extended(0, int8xor(t.event_seq, {key})))
            )),
            hash_array_extended(t.version_ids, 1)
        ),
        int8xor(hashtextextended(t.canonical_payload, 2), hashtextextended(t.event_type, 3))
    ))) as h
from {schema}.event as t
where {which}
