-- Endings.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.ending as t
cross join lateral (
    select
        t.event_id,
        t.event_seq,
        t.version_id,
        t.effective_at
) as o
where {which}
