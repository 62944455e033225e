-- Labels that no batch could have left: of no version, or after an event that the fact does not have.
select
    t.fact_no,
    hash_record_extended((
        t.version_no, int8send(t.event_seq), t.lifecycle, t.supersedes_id, t.superseded_by_id, t.merged_into_id,
        t.confidence
    ), int8xor(t.version_no, {key})) as h
from {schema}.version_label as t
where
    {which}
    and (
        t.event_seq > coalesce({events}, 0)
        or t.version_no not between 1 and coalesce({versions}, 0)
    )
