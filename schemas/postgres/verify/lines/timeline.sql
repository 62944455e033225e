-- Painted stretches.
select
    t.fact_no,
    json_build_object(
        'lane', t.lane,
        'known_from', t.known_from,
        'event_seq', t.event_seq,
        'valid_from', t.valid_from,
        'valid_to', t.valid_to,
        'kind', t.kind,
        'reason', t.reason,
        'answer_key', t.answer_key,
        'versions', t.versions,
        'winner', t.winner
    )::text as said
from {schema}.timeline as t
where {which}
