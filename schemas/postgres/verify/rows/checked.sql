-- Every check of a memory.
select
    t.fact_no,
    hash_record_extended((
        t.event_id, t.event_seq, t.version_id, int8send(t.pairs), int8send(t.decided), int8send(t.pending), t.reason,
        t.llm_call_made
    ), uuid_hash_extended(t.event_id, int8xor(t.event_seq, {key}))) as h
from {schema}.checked as t
where {which}
