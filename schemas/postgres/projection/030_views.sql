-- The projection as people read it; chronofact.memory_* joins the serving ones.
create view {schema}.memory_fact_event as
select
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.fact_id,
    e.event_id,
    e.event_seq,
    e.recorded_at,
    e.event_type,
    e.version_ids,
    e.canonical_payload,
    e.payload_hash,
    e.kafka_partition,
    e.kafka_offset
from {schema}.event as e
inner join {schema}.fact as f on e.fact_no = f.fact_no;

-- Every version with its newest label.
create view {schema}.labelled_version as
select
    v.version_id as id,
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    v.value_json::jsonb as value_json,
    tstzrange(v.valid_from, v.valid_to) as valid_during,
    v.recorded_at,
    case when l.fact_no is null then v.lifecycle else l.lifecycle end as lifecycle,
    v.source_id,
    v.source_hash,
    case when l.fact_no is null then v.supersedes_id else l.supersedes_id end as supersedes_id,
    case when l.fact_no is null then v.superseded_by_id else l.superseded_by_id end as superseded_by_id,
    case when l.fact_no is null then v.merged_into_id else l.merged_into_id end as merged_into_id,
    case when l.fact_no is null then v.confidence else l.confidence end as confidence,
    f.fact_id,
    v.value_hash,
    v.event_seq,
    v.fact_no,
    v.version_no
from {schema}.version as v
inner join {schema}.fact as f on v.fact_no = f.fact_no
left join lateral (
    select
        newest.fact_no,
        newest.lifecycle,
        newest.supersedes_id,
        newest.superseded_by_id,
        newest.merged_into_id,
        newest.confidence
    from {schema}.version_label as newest
    where newest.fact_no = v.fact_no and newest.version_no = v.version_no
    order by newest.event_seq desc
    limit 1
) as l on true;

create view {schema}.memory_fact_version as
select
    v.id,
    v.tenant_id,
    v.subject_id,
    v.scope_kind,
    v.scope_key,
    v.fact_key,
    v.value_json,
    v.valid_during,
    v.recorded_at,
    v.lifecycle,
    v.source_id,
    v.source_hash,
    v.supersedes_id,
    v.superseded_by_id,
    v.merged_into_id,
    v.confidence,
    v.fact_id,
    v.value_hash,
    v.event_seq
from {schema}.labelled_version as v;

create view {schema}.memory_fact_edge as
select
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.fact_id,
    e.event_id,
    e.new_version_id,
    e.old_version_id,
    e.effective_at,
    e.mode,
    e.event_seq
from {schema}.edge as e
inner join {schema}.fact as f on e.fact_no = f.fact_no;

create view {schema}.memory_fact_conflict as
select
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.fact_id,
    c.left_version_id,
    c.right_version_id,
    c.relation,
    c.recorded_at,
    c.event_seq,
    f.conflicts_open -- of the fact, exact
from {schema}.conflict as c
inner join {schema}.fact as f on c.fact_no = f.fact_no;

-- Per pair a person's word over rule and model, then the last decided (semantics §3).
create view {schema}.memory_relationship as
select distinct on (r.fact_no, r.left_version_id, r.right_version_id)
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.fact_id,
    r.left_version_id,
    r.right_version_id,
    r.relation,
    r.newer_version_id,
    r.decided_at,
    r.decided_by,
    r.reason,
    r.llm_call_made,
    r.model,
    r.event_id,
    r.event_seq
from {schema}.relation as r
inner join {schema}.fact as f on r.fact_no = f.fact_no
order by
    r.fact_no asc,
    r.left_version_id asc,
    r.right_version_id asc,
    r.decided_by = 'person' desc,
    r.decided_at desc,
    r.event_id desc;
