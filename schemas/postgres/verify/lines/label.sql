-- Labels that no batch could have left.
select
    t.fact_no,
    row_to_json(o)::text as said
from {schema}.version_label as t
cross join lateral (
    select
        t.version_no,
        t.event_seq,
        t.lifecycle,
        t.supersedes_id,
        t.superseded_by_id,
        t.merged_into_id,
        t.confidence
) as o
left join {schema}.fact as f on t.fact_no = f.fact_no
where {which} and (f.fact_no is null or t.event_seq > f.event_seq or t.version_no not between 1 and f.versions)
