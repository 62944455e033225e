-- Every painted stretch.
select
    t.fact_no,
    hash_record_extended((
        t.lane, timestamptz_send(t.known_from), t.event_seq, timestamptz_send(t.valid_from),
        timestamptz_send(t.valid_to), t.kind, t.reason, t.answer_key, t.versions, t.winner
    ), int8xor(
        int8xor(coalesce(timestamptz_hash_extended(t.valid_from, t.event_seq), t.event_seq), t.lane), {key}
    )) as h
from {schema}.timeline as t
where {which}
