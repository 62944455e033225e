-- Text memories as people read them: lifecycle as known now, and what their newest check left pending.
create view {schema}.memory_text as
select
    v.id,
    v.tenant_id,
    v.subject_id,
    v.scope_kind,
    v.scope_key,
    v.fact_key,
    t.text,
    v.valid_during,
    v.recorded_at,
    v.lifecycle,
    v.source_id,
    v.superseded_by_id,
    v.merged_into_id,
    v.confidence,
    t.frames::jsonb as frames,
    t.extractor,
    t.embedding,
    t.embedder,
    t.search,
    c.recorded_at as checked_at,
    c.pending,
    v.fact_id,
    v.event_seq
from {schema}.memory as t
inner join {schema}.labelled_version as v on t.fact_no = v.fact_no and t.version_no = v.version_no
left join lateral (
    select
        said.recorded_at,
        newest.pending
    from {schema}.checked as newest
    inner join {schema}.event as said on newest.fact_no = said.fact_no and newest.event_seq = said.event_seq
    where newest.version_id = v.id and newest.fact_no = t.fact_no
    order by newest.event_seq desc
    limit 1
) as c on true;
