-- One memory as it was derived.
select
    f.fact_no,
    v.version_id,
    t.event_seq,
    v.recorded_at,
    t.text,
    v.valid_from,
    {schema}.held_until(v.fact_no, v.version_id, v.valid_to, null) as valid_to,
    case when l.fact_no is null then v.lifecycle else l.lifecycle end as lifecycle,
    t.extractor,
    t.frames,
    t.keys,
    t.embedder,
    halfvec_send(t.embedding) as embedding
from {schema}.fact as f
inner join {schema}.version as v on f.fact_no = v.fact_no and v.version_id = %(version_id)s
inner join {schema}.memory as t on v.fact_no = t.fact_no and v.version_no = t.version_no
left join lateral (
    select
        newest.fact_no,
        newest.lifecycle
    from {schema}.version_label as newest
    where newest.fact_no = v.fact_no and newest.version_no = v.version_no
    order by newest.event_seq desc
    limit 1
) as l on true
where f.fact_id = %(fact_id)s
