-- Every version as it was asserted.
select
    t.fact_no,
    hashbyteaextended(t.value_hash, hashbyteaextended(t.source_hash, uuid_hash_extended(t.version_id, int8xor(
        int8xor(
            hashbyteaextended(timestamptz_send(t.recorded_at), hashint4extended(
                t.version_no, int8xor(t.event_seq, {key})
            )),
            int8xor(
                coalesce(hashbyteaextended(timestamptz_send(t.valid_from), 1), 1),
                coalesce(hashbyteaextended(timestamptz_send(t.valid_to), 2), 2)
            )
        ),
        int8xor(hashbyteaextended(json_send(t.value_json), 3), hashtextextended(t.source_id, 4))
    )))) as h
from {schema}.version as t
where {which}
