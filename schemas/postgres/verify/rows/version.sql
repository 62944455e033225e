-- Every version with its newest label; the labels before depend on how the log was cut into batches.
select
    t.fact_no,
    hash_record_extended(row(
        t.version_no, t.version_id, json_send(t.value_json), t.value_hash, timestamptz_send(t.valid_from),
        timestamptz_send(t.valid_to), timestamptz_send(t.recorded_at), t.event_seq, t.source_id, t.source_hash,
        case when l.fact_no is null then t.confidence else l.confidence end,
        case when l.fact_no is null then t.lifecycle else l.lifecycle end,
        case when l.fact_no is null then t.supersedes_id else l.supersedes_id end,
        case when l.fact_no is null then t.superseded_by_id else l.superseded_by_id end,
        case when l.fact_no is null then t.merged_into_id else l.merged_into_id end,
        coalesce(l.event_seq <= t.event_seq, false) -- a label of no later event is none that a batch could leave
    ), t.version_no::bigint # {key}) as h
from {schema}.version as t
left join (
    select distinct on (t.fact_no, t.version_no) t.*
    from {schema}.version_label as t
    where {which}
    order by t.fact_no asc, t.version_no asc, t.event_seq desc
) as l on t.fact_no = l.fact_no and t.version_no = l.version_no
where {which}
