-- The head of a fact, its number left out but for the partition.
select
    t.fact_no,
    t.fact_id,
    hashbyteaextended(t.state_hash, uuid_hash_extended(t.fact_id, uuid_hash_extended(t.tenant_id, int8xor(
        uuid_hash_extended(t.subject_id, hashbyteaextended(timestamptz_send(t.recorded_at), hashint4extended(
            t.versions, int8xor(t.event_seq, hashint4extended(t.painted, int8xor(
                t.conflicts_open, hashint2extended(t.lane_mode, t.fact_no >> 40)
            )))
        ))),
        int8xor(
            int8xor(hashtextextended(t.scope_kind, 1), hashtextextended(t.scope_key, 2)),
            int8xor(hashtextextended(t.fact_key, 3), coalesce(hashtextextended(t.subject_label, 4), 4))
        )
    )))) as h
from {schema}.fact as t
where {which}
