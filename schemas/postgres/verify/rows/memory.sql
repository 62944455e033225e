-- Every memory, with what was derived from it.
select
    t.fact_no,
    hash_record_extended((
        t.version_no, int8send(t.event_seq), t.text, t.extractor, json_send(t.frames), t.keys, t.embedder,
        halfvec_send(t.embedding)
    ), int8xor(t.version_no, {key})) as h
from {schema}.memory as t
where {which}
