-- Decisions; their reason as a hash.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.decision as t
cross join lateral (
    select
        t.event_id,
        t.event_seq,
        t.left_version_id,
        t.right_version_id,
        t.keep,
        t.decided_at,
        t.decided_by,
        encode(sha256(convert_to(t.reason, 'UTF8')), 'hex') as reason_sha256
) as o
where {which}
