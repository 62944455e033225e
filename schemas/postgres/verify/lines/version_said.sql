-- Versions as asserted; the value as a hash.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.version as t
cross join lateral (
    select
        t.version_no,
        t.version_id,
        encode(sha256(json_send(t.value_json)), 'hex') as value_json_sha256,
        t.value_hash,
        t.valid_from,
        t.valid_to,
        t.recorded_at,
        t.event_seq,
        t.source_id,
        t.source_hash
) as o
where {which}
