-- Every stated edge.
select
    t.fact_no,
    uuid_hash_extended(t.event_id, uuid_hash_extended(t.new_version_id, uuid_hash_extended(t.old_version_id, int8xor(
        hashint2extended(t.ordinal, int8xor(t.event_seq, {key})),
        int8xor(
            coalesce(hashbyteaextended(timestamptz_send(t.effective_at), 1), 1),
            coalesce(hashtextextended(t.mode, 2), 2)
        )
    )))) as h
from {schema}.edge as t
where {which}
