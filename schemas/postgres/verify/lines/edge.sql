-- Stated edges.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.edge as t
cross join lateral (
    select
        t.event_id,
        t.ordinal,
        t.event_seq,
        t.new_version_id,
        t.old_version_id,
        t.effective_at,
        t.mode
) as o
where {which}
