-- Every declared relation.
select
    t.fact_no,
    hash_record_extended((
        t.event_id, t.event_seq, t.left_version_id, t.right_version_id, t.relation, t.newer_version_id,
        timestamptz_send(t.decided_at), t.decided_by, t.reason, t.llm_call_made, t.model
    ), uuid_hash_extended(t.event_id, int8xor(t.event_seq, {key}))) as h
from {schema}.relation as t
where {which}
