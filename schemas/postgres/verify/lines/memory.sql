-- Memories; their text, frames, keys and embedding as hashes.
select
    t.fact_no,
    json_build_object(
        'version_no', t.version_no,
        'event_seq', t.event_seq,
        'text_sha256', encode(sha256(convert_to(t.text, 'UTF8')), 'hex'),
        'extractor', t.extractor,
        'frames_sha256', encode(sha256(json_send(t.frames)), 'hex'),
        'keys_sha256', encode(sha256(array_send(t.keys)), 'hex'),
        'embedder', t.embedder,
        'embedding_sha256', encode(sha256(halfvec_send(t.embedding)), 'hex')
    )::text as said
from {schema}.memory as t
where {which}
