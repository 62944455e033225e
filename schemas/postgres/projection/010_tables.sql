-- One projection: disposable, append-only but for the heads in fact and the open pairs in conflict.
-- fact_no is (kafka partition << 40) | a counter from 1, so that no two partitions share a number; the big tables have
-- a leaf each.
-- Ids are uuids, hashes 32 bytes, instants microseconds; a null bound is open.
create schema {schema};

create table {schema}.fact (
    fact_no bigint not null,
    fact_id uuid not null,
    tenant_id uuid not null,
    subject_id uuid not null,
    scope_kind text not null,
    scope_key text not null,
    fact_key text not null,
    subject_label text,
    event_seq bigint not null, -- how many events counted
    recorded_at timestamptz not null, -- of the last event
    versions integer not null, -- how many are numbered, that is, were asserted
    lane_mode smallint not null, -- 0: lane 0 only; 1: every version has a lane too
    painted integer not null, -- stretches of lane 0 since the last whole repaint
    conflicts_open bigint not null, -- exact, also where conflict holds only the first 1,000
    state_hash bytea not null, -- semantics §5, big endian
    constraint fact_pkey primary key (fact_no),
    constraint fact_id_once unique (fact_id),
    constraint fact_parts_once unique (tenant_id, subject_id, scope_kind, scope_key, fact_key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index fact_in_conflict on {schema}.fact (tenant_id, fact_no) where conflicts_open > 0;

create table {schema}.event (
    fact_no bigint not null,
    event_seq bigint not null,
    event_id uuid not null,
    recorded_at timestamptz not null,
    event_type text not null,
    version_ids uuid[] not null,
    canonical_payload text not null,
    payload_hash bytea not null,
    kafka_partition smallint not null,
    kafka_offset bigint not null,
    constraint event_pkey primary key (fact_no, event_seq),
    constraint event_id_once unique (fact_no, event_id)
) partition by range (fact_no);

create index event_by_offset on {schema}.event (kafka_offset); -- in its leaf, for whoever follows changed answers

create table {schema}.version (
    fact_no bigint not null,
    version_no integer not null, -- from 1 in order of first assertion; also its lane
    version_id uuid not null,
    value_json json not null, -- the canonical bytes
    value_hash bytea not null,
    valid_from timestamptz, -- as asserted
    valid_to timestamptz,
    recorded_at timestamptz not null, -- of the first assertion
    event_seq bigint not null,
    source_id text not null,
    source_hash bytea not null,
    confidence double precision, -- from here on as known after the batch that first saw it
    lifecycle text not null,
    supersedes_id uuid,
    superseded_by_id uuid,
    merged_into_id uuid,
    constraint version_pkey primary key (fact_no, version_no),
    constraint version_id_once unique (fact_no, version_id)
) partition by range (fact_no);

create table {schema}.version_label (
    fact_no bigint not null,
    version_no integer not null,
    event_seq bigint not null, -- the newest counts
    lifecycle text not null,
    supersedes_id uuid,
    superseded_by_id uuid,
    merged_into_id uuid,
    confidence double precision,
    constraint version_label_pkey primary key (fact_no, version_no, event_seq)
);

create table {schema}.edge (
    fact_no bigint not null,
    event_id uuid not null,
    ordinal smallint not null,
    event_seq bigint not null,
    new_version_id uuid not null,
    old_version_id uuid not null,
    effective_at timestamptz, -- as stated; null is the default of semantics §3
    mode text,
    constraint edge_pkey primary key (fact_no, event_id, ordinal)
);

create table {schema}.ending (
    fact_no bigint not null,
    event_id uuid not null,
    event_seq bigint not null,
    version_id uuid not null,
    effective_at timestamptz not null,
    constraint ending_pkey primary key (fact_no, event_id)
);

create table {schema}.decision (
    fact_no bigint not null,
    event_id uuid not null,
    event_seq bigint not null,
    left_version_id uuid not null,
    right_version_id uuid not null,
    keep uuid, -- null: neither
    decided_at timestamptz not null,
    decided_by text,
    reason text,
    constraint decision_pkey primary key (fact_no, event_id)
);

create table {schema}.relation (
    fact_no bigint not null,
    event_id uuid not null,
    event_seq bigint not null,
    left_version_id uuid not null,
    right_version_id uuid not null,
    relation text not null,
    newer_version_id uuid,
    decided_at timestamptz not null,
    decided_by text not null,
    reason text,
    llm_call_made boolean not null,
    model text,
    constraint relation_pkey primary key (fact_no, event_id)
);

create table {schema}.conflict (
    fact_no bigint not null,
    left_version_id uuid not null,
    right_version_id uuid not null,
    relation text not null, -- OPEN or RESOLVED
    event_seq bigint not null, -- since when it is so
    recorded_at timestamptz not null,
    constraint conflict_pkey primary key (fact_no, left_version_id, right_version_id),
    constraint conflict_relation_is_known check (relation in ('OPEN', 'RESOLVED')),
    constraint conflict_pair_is_sorted check (left_version_id < right_version_id)
);

create index conflict_by_age on {schema}.conflict (recorded_at);

-- kind: 0 unknown, 1 value, 2 conflict, 3 (lane 0 only) many-valued, look at the lanes.
-- reason, of unknown: 1 excluded, 2 ended, 3 superseded, 4 not_yet_valid, 5 revoked, 6 proposed_only, 7 never_recorded;
--   null in a lane: not eligible, and why is not kept.
-- answer_key: with kind, says whether two stretches hold the same answer; null for unknown and for a crowd in conflict.
-- versions: the version_no's behind it, ascending; null is a crowd: the eligible lanes are they.
create table {schema}.timeline (
    fact_no bigint not null,
    lane integer not null,
    known_from timestamptz not null,
    event_seq bigint not null,
    valid_from timestamptz,
    valid_to timestamptz,
    kind smallint not null,
    reason smallint,
    answer_key uuid,
    versions integer[],
    winner integer,
    constraint timeline_kind_is_known check (kind between 0 and 3),
    constraint timeline_stretch_is_not_empty check (valid_from < valid_to)
) partition by range (fact_no);

-- Both look-ups pass over stretches that start elsewhere without leaving the index, hence no plain valid_from.
create unique index timeline_painted_once
on {schema}.timeline (fact_no, lane, known_from, event_seq, coalesce(valid_from, '-infinity'));

create index timeline_by_start
on {schema}.timeline (fact_no, lane, coalesce(valid_from, '-infinity'), known_from desc, event_seq desc);
