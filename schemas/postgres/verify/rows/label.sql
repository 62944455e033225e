-- Labels that no batch could have left: of no version, or after an event that the fact does not have. The partition
-- stands beside the number: a join's hash folds the number's halves, and so makes one of many partitions' numbers.
select
    t.fact_no,
    hash_record_extended((
        t.version_no, int8send(t.event_seq), t.lifecycle, t.supersedes_id, t.superseded_by_id, t.merged_into_id,
        float8send(t.confidence)
    ), hashint4extended(t.version_no, int8xor(t.event_seq, {key}))) as h
from {schema}.version_label as t
left join {schema}.fact as f on t.fact_no = f.fact_no and t.fact_no >> {shift} = f.fact_no >> {shift}
where
    {which}
    and (f.fact_no is null or t.event_seq > f.event_seq or t.version_no not between 1 and f.versions)
