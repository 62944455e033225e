-- One page of a fact's versions in order of first assertion, each with its newest label.
select
    v.version_no,
    v.version_id,
    v.value_json,
    v.value_hash,
    v.valid_from,
    v.valid_to,
    v.recorded_at,
    v.event_seq,
    v.source_id,
    v.source_hash,
    coalesce(l.lifecycle, v.lifecycle) as lifecycle,
    case when l.fact_no is null then v.confidence else l.confidence end as confidence,
    case when l.fact_no is null then v.supersedes_id else l.supersedes_id end as supersedes_id,
    case when l.fact_no is null then v.superseded_by_id else l.superseded_by_id end as superseded_by_id,
    case when l.fact_no is null then v.merged_into_id else l.merged_into_id end as merged_into_id
from {schema}.version as v
left join lateral (
    select newest.*
    from {schema}.version_label as newest
    where newest.fact_no = v.fact_no and newest.version_no = v.version_no
    order by newest.fact_no desc, newest.version_no desc, newest.event_seq desc
    limit 1
) as l on true
where v.fact_no = %(fact_no)s and v.version_no > %(after)s
order by v.fact_no, v.version_no
limit %(limit)s
