-- Every version with its newest label; the labels before depend on how the log was cut into batches.
with newest as (
    select distinct on (n.fact_no, n.version_no) n.*
    from {schema}.version_label as n
    where {newest}
    order by n.fact_no asc, n.version_no asc, n.event_seq desc
)

select
    t.fact_no,
    hash_record_extended((
        t.version_no, t.version_id, json_send(t.value_json), t.value_hash, timestamptz_send(t.valid_from),
        timestamptz_send(t.valid_to), timestamptz_send(t.recorded_at), int8send(t.event_seq), t.source_id,
        t.source_hash,
        case when l.fact_no is null then t.confidence else l.confidence end,
        case when l.fact_no is null then t.lifecycle else l.lifecycle end,
        case when l.fact_no is null then t.supersedes_id else l.supersedes_id end,
        case when l.fact_no is null then t.superseded_by_id else l.superseded_by_id end,
        case when l.fact_no is null then t.merged_into_id else l.merged_into_id end,
        coalesce(l.event_seq <= t.event_seq, false) -- a label of no later event is none that a batch could leave
    ), int8xor(t.version_no, {key})) as h
from {schema}.version as t
left join newest as l on t.fact_no = l.fact_no and t.version_no = l.version_no
where {which}
