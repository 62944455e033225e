-- Labels that no batch could have left.
select
    t.fact_no,
    json_build_object(
        'version_no', t.version_no,
        'event_seq', t.event_seq,
        'lifecycle', t.lifecycle,
        'supersedes_id', t.supersedes_id,
        'superseded_by_id', t.superseded_by_id,
        'merged_into_id', t.merged_into_id,
        'confidence', t.confidence
    )::text as said
from {schema}.version_label as t
left join {schema}.fact as f on t.fact_no = f.fact_no
where
    {which}
    and (f.fact_no is null or t.event_seq > f.event_seq or t.version_no not between 1 and f.versions)
