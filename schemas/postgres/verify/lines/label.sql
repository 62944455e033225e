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
where
    {which}
    and (
        t.event_seq > coalesce({events}, 0)
        or t.version_no not between 1 and coalesce({versions}, 0)
    )
