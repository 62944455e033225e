-- Every stated edge.
select
    t.fact_no,
    hash_record_extended((
        t.event_id, t.ordinal, t.event_seq, t.new_version_id, t.old_version_id, timestamptz_send(t.effective_at), t.mode
    ), int8xor(int8xor(t.event_seq, t.ordinal::bigint << 32), {key})) as h
from {schema}.edge as t
where {which}
