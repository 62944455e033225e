-- Every decision.
select
    t.fact_no,
    hash_record_extended((
        t.event_id, t.event_seq, t.left_version_id, t.right_version_id, t.keep, timestamptz_send(t.decided_at),
        t.decided_by, t.reason
    ), uuid_hash_extended(t.event_id, int8xor(t.event_seq, {key}))) as h
from {schema}.decision as t
where {which}
