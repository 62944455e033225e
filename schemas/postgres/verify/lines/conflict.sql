-- Conflict edges.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.conflict as t
cross join lateral (
    select
        t.left_version_id,
        t.right_version_id,
        t.relation,
        t.event_seq,
        t.recorded_at
) as o
where {which}
