-- Versions with their newest label; the value as a hash.
with newest as (
    select distinct on (n.fact_no, n.version_no) n.*
    from {schema}.version_label as n
    where {newest}
    order by n.fact_no asc, n.version_no asc, n.event_seq desc
)

select
    t.fact_no,
    json_build_object(
        'version_no', t.version_no,
        'version_id', t.version_id,
        'value_json_sha256', encode(sha256(json_send(t.value_json)), 'hex'),
        'value_hash', t.value_hash,
        'valid_from', t.valid_from,
        'valid_to', t.valid_to,
        'recorded_at', t.recorded_at,
        'event_seq', t.event_seq,
        'source_id', t.source_id,
        'source_hash', t.source_hash,
        'confidence', case when l.fact_no is null then t.confidence else l.confidence end,
        'lifecycle', case when l.fact_no is null then t.lifecycle else l.lifecycle end,
        'supersedes_id', case when l.fact_no is null then t.supersedes_id else l.supersedes_id end,
        'superseded_by_id', case when l.fact_no is null then t.superseded_by_id else l.superseded_by_id end,
        'merged_into_id', case when l.fact_no is null then t.merged_into_id else l.merged_into_id end,
        'label_is_too_early', coalesce(l.event_seq <= t.event_seq, false)
    )::text as said
from {schema}.version as t
left join newest as l on t.fact_no = l.fact_no and t.version_no = l.version_no
where {which}
