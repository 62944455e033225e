-- Every version as it was asserted.
select
    t.fact_no,
    hash_record_extended((
        t.version_no, t.version_id, json_send(t.value_json), t.value_hash, timestamptz_send(t.valid_from),
        timestamptz_send(t.valid_to), timestamptz_send(t.recorded_at), int8send(t.event_seq), t.source_id, t.source_hash
    ), int8xor(t.version_no, {key})) as h
from {schema}.version as t
where {which}
