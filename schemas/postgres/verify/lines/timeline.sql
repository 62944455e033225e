-- Painted stretches.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.timeline as t
cross join lateral (
    select
        t.lane,
        t.known_from,
        t.event_seq,
        t.valid_from,
        t.valid_to,
        t.kind,
        t.reason,
        t.answer_key,
        t.versions,
        t.winner
) as o
where {which}
