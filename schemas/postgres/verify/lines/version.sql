-- Versions with their newest label; the value as a hash.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.version as t
left join (
    select distinct on (t.fact_no, t.version_no) t.*
    from {schema}.version_label as t
    where {which}
    order by t.fact_no asc, t.version_no asc, t.event_seq desc
) as l on t.fact_no = l.fact_no and t.version_no = l.version_no
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
        t.source_hash,
        case when l.fact_no is null then t.confidence else l.confidence end as confidence,
        case when l.fact_no is null then t.lifecycle else l.lifecycle end as lifecycle,
        case when l.fact_no is null then t.supersedes_id else l.supersedes_id end as supersedes_id,
        case when l.fact_no is null then t.superseded_by_id else l.superseded_by_id end as superseded_by_id,
        case when l.fact_no is null then t.merged_into_id else l.merged_into_id end as merged_into_id,
        coalesce(l.event_seq <= t.event_seq, false) as label_is_too_early
) as o
where {which}
