-- Memories with what was derived from them, what a command names their facts by, and the newest check of each; what the
-- projection has not, or holds behind what is parked, has no line. place is that in the arrays.
select
    asked.place,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
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
    halfvec_send(t.embedding) as embedding,
    c.event_id as check_event_id,
    c.event_seq as check_event_seq,
    c.recorded_at as check_recorded_at,
    c.pairs,
    c.decided,
    c.pending,
    c.reason,
    c.llm_call_made
from
    unnest(%(tenant_ids)s::uuid[], %(fact_ids)s::uuid[], %(version_ids)s::uuid[])
    with ordinality as asked (tenant_id, fact_id, version_id, place)
inner join {schema}.fact as f on asked.fact_id = f.fact_id and asked.tenant_id = f.tenant_id
inner join {schema}.version as v on f.fact_no = v.fact_no and asked.version_id = v.version_id
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
left join lateral (
    select
        newest.event_id,
        newest.event_seq,
        said.recorded_at,
        newest.pairs,
        newest.decided,
        newest.pending,
        newest.reason,
        newest.llm_call_made
    from {schema}.checked as newest
    inner join {schema}.event as said on newest.fact_no = said.fact_no and newest.event_seq = said.event_seq
    where newest.version_id = v.version_id and newest.fact_no = v.fact_no
    order by newest.event_seq desc
    limit 1
) as c on true
where
    not exists (
        select from chronofact.parked_event as p
        where p.projection = %(projection)s::text and p.fact_id = asked.fact_id
    )
