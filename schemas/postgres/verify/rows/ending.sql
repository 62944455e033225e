-- Every ending.
select
    t.fact_no,
    hash_record_extended((
        t.event_id, t.event_seq, t.version_id, timestamptz_send(t.effective_at)
    ), int8xor(t.event_seq, {key})) as h
from {schema}.ending as t
where {which}
