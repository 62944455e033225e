-- Every ending.
select
    t.fact_no,
    uuid_hash_extended(t.event_id, uuid_hash_extended(
        t.version_id, hashbyteaextended(timestamptz_send(t.effective_at), int8xor(t.event_seq, {key}))
    )) as h
from {schema}.ending as t
where {which}
