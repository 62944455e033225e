-- Labels that no batch could have left: of no version, or after an event that the fact does not have.
select
    t.fact_no,
    hash_record_extended(row(
        t.version_no, t.event_seq, t.lifecycle, t.supersedes_id, t.superseded_by_id, t.merged_into_id, t.confidence
    ), t.version_no::bigint # {key}) as h
from {schema}.version_label as t
left join {schema}.fact as f on t.fact_no = f.fact_no
where {which} and (f.fact_no is null or t.event_seq > f.event_seq or t.version_no not between 1 and f.versions)
