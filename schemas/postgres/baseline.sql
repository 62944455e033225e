-- What outlives every projection: which there are, how far each has come, which tenant reads which, what is parked.
create schema if not exists chronofact;

create table chronofact.projection (
    name text not null,
    rule smallint not null, -- rule version of the fold
    state text not null,
    fingerprint text, -- of the fold that fills it
    constraint projection_pkey primary key (name),
    constraint projection_name_is_a_schema check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
    constraint projection_state_is_known check (
        state in ('building', 'catching_up', 'verifying', 'ready', 'live', 'retired', 'failed')
    )
);

create table chronofact.checkpoint (
    projection text not null,
    topic_id uuid not null,
    partition smallint not null,
    next_offset bigint not null,
    epoch bigint not null, -- of the owner; a batch of another epoch changes nothing
    constraint checkpoint_pkey primary key (projection, topic_id, partition),
    constraint checkpoint_of_projection foreign key (projection) references chronofact.projection (name),
    constraint checkpoint_counts_from_zero check (next_offset >= 0 and epoch >= 0 and partition >= 0)
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

create table chronofact.tenant_route (
    tenant_id uuid, -- null: every tenant without a line of its own
    projection text not null,
    constraint tenant_route_one_a_tenant unique nulls not distinct (tenant_id),
    constraint tenant_route_to_projection foreign key (projection) references chronofact.projection (name)
);

create table chronofact.parked_event (
    projection text not null,
    topic_id uuid not null,
    partition smallint not null,
    kafka_offset bigint not null,
    fact_id uuid, -- the fact that is held; null where the message key is not one
    message_key bytea,
    message bytea, -- the raw bytes
    appended_at timestamptz not null, -- by the broker
    code text not null, -- why, from a closed list; 'held' where an earlier event of the fact is parked
    reason text not null,
    parked_at timestamptz not null default clock_timestamp(),
    attempts integer not null default 1, -- how often it was tried, the first time included
    tried_at timestamptz not null default clock_timestamp(),
    release_asked_at timestamptz, -- set to have it tried again; the projector clears it
    constraint parked_event_pkey primary key (projection, topic_id, partition, kafka_offset),
    constraint parked_event_of_projection foreign key (projection) references chronofact.projection (name)
);

create index parked_event_in_order on chronofact.parked_event (projection, fact_id, kafka_offset);

create index parked_event_asked on chronofact.parked_event (projection, topic_id, partition)
where release_asked_at is not null;

create table chronofact.released_event (
    number bigint generated always as identity, -- in the order of commits
    projection text not null,
    topic_id uuid not null,
    partition smallint not null,
    kafka_offset bigint not null,
    fact_id uuid, -- null: a drop that counts after all
    released_at timestamptz not null default clock_timestamp(),
    constraint released_event_pkey primary key (number),
    constraint released_event_once unique (projection, topic_id, partition, kafka_offset),
    constraint released_event_of_projection foreign key (projection) references chronofact.projection (name)
);

create index released_event_in_order on chronofact.released_event (projection, topic_id, partition, number);

-- Outlives its projection: the next one skips what was dropped when it meets it.
create table chronofact.dropped_event (
    projection text not null,
    topic_id uuid not null,
    partition smallint not null,
    kafka_offset bigint not null,
    message_key bytea,
    drop_offset bigint not null, -- of the EventDropped, in the same partition
    dropped_by text not null,
    reason text not null,
    dropped_at timestamptz not null, -- when the broker appended the EventDropped
    constraint dropped_event_pkey primary key (projection, topic_id, partition, kafka_offset)
);

create index dropped_event_by_place on chronofact.dropped_event (topic_id, partition, kafka_offset);

-- Independent checks: which there were, at which cut of the log, and what each found.
create extension if not exists btree_gist; -- for numbers and ranges under one constraint

create table chronofact.reconciliation_run (
    run_id bigint generated always as identity,
    projection text not null,
    state text not null,
    started_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    seed bigint not null, -- of every sample, so that a run can be done again
    past_max integer not null,
    with_log boolean not null,
    with_adjudicated boolean not null,
    cut_at timestamptz, -- when the snapshot was taken
    topic_id uuid,
    next_offsets bigint[], -- the cut, by partition from 0
    facts bigint not null default 0,
    facts_total bigint not null default 0,
    events bigint not null default 0,
    messages bigint not null default 0,
    messages_total bigint not null default 0,
    divergences bigint not null default 0,
    bounded bigint not null default 0, -- facts judged at sampled instants only
    adjudicated text, -- the table of this run's answers
    failure text,
    constraint reconciliation_run_pkey primary key (run_id),
    constraint reconciliation_run_of_projection foreign key (projection)
    references chronofact.projection (name) on delete cascade,
    constraint reconciliation_run_state_is_known check (state in ('running', 'finished', 'failed'))
);

create table chronofact.divergence (
    run_id bigint not null,
    number bigint generated always as identity,
    fact_no bigint,
    fact_id uuid,
    relation text not null, -- the table, or log
    aspect text not null, -- the column, or what is wrong with the line
    place text not null, -- which line
    expected text,
    found text,
    constraint divergence_pkey primary key (run_id, number),
    constraint divergence_of_run foreign key (run_id)
    references chronofact.reconciliation_run (run_id) on delete cascade
);

-- The answers of the newest finished run that kept them, as known at its cut: one line a stretch of valid time and, in
-- a many-valued fact, a version. The table behind it is dropped once a newer one is whole.
create function chronofact.memory_adjudicated(
    out run_id bigint,
    out cut_at timestamptz,
    out projection text,
    out tenant_id uuid,
    out fact_id uuid,
    out lane integer, -- 0, or the number of a version of a many-valued fact
    out kind text,
    out version_ids uuid[],
    out valid_during tstzrange
)
returns setof record
language plpgsql stable parallel safe
as $$
declare
    newest record;
begin
    select r.run_id, r.cut_at, r.projection, r.adjudicated into newest
    from chronofact.reconciliation_run as r
    where r.state = 'finished' and r.adjudicated is not null
    order by r.run_id desc
    limit 1;
    if newest.adjudicated is not null then
        return query execute format(
            'select $1, $2, $3, a.tenant_id, a.fact_id, a.lane, a.kind, a.version_ids, a.valid_during'
            ' from chronofact.%I as a', newest.adjudicated
        ) using newest.run_id, newest.cut_at, newest.projection;
    end if;
end;
$$;

-- Rebuilds: which there were, how far each has come, partition by partition, and what a new process goes on from.
create table chronofact.rebuild (
    rebuild_id bigint generated always as identity,
    projection text not null, -- outlives it
    rule smallint not null,
    state text not null,
    topic_id uuid,
    fingerprint text, -- of the fold that the load began with
    targets bigint[], -- high watermarks taken at the start, by partition from 0
    compared_with text, -- the projection that it is verified against
    workers smallint not null,
    epoch bigint not null default 0, -- bumped by every runner that takes it; what an older one writes changes nothing
    phases jsonb not null default '{}', -- seconds by phase
    started_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    heartbeat_at timestamptz,
    cancel_asked_at timestamptz,
    failure text,
    failure_code text,
    remedy text,
    shadow_window_s bigint,
    constraint rebuild_pkey primary key (rebuild_id),
    constraint rebuild_state_is_known check (
        state in (
            'planning', 'building', 'indexing', 'catching_up', 'verifying', 'ready', 'failed', 'cancelled'
        )
    )
);

create unique index rebuild_one_a_projection on chronofact.rebuild (projection)
where state not in ('ready', 'failed', 'cancelled');

create table chronofact.rebuild_part (
    rebuild_id bigint not null,
    partition smallint not null,
    target bigint not null, -- the load goes up to it
    messages_read bigint not null default 0,
    buckets integer not null default 0, -- shares of the facts by hash of their key; fixed by the first who reads
    buckets_done integer not null default 0, -- each written in one transaction with this count
    messages bigint not null default 0, -- of the buckets done
    events bigint not null default 0,
    facts bigint not null default 0,
    parked bigint not null default 0, -- set aside, then those that stay parked
    fact_no_last bigint not null,
    state text not null default 'waiting',
    owner_epoch bigint, -- of the runner whose worker has it
    owner_worker smallint,
    updated_at timestamptz not null default clock_timestamp(),
    constraint rebuild_part_pkey primary key (rebuild_id, partition),
    constraint rebuild_part_of_rebuild foreign key (rebuild_id)
    references chronofact.rebuild (rebuild_id) on delete cascade,
    constraint rebuild_part_state_is_known check (state in ('waiting', 'reading', 'folding', 'loaded', 'indexed'))
) with (fillfactor = 50);

-- Indexes and constraints that the load works without, as the standard tables had them; made again once it is done.
create table chronofact.rebuild_index (
    rebuild_id bigint not null,
    number smallint not null,
    relation text not null, -- the table
    name text not null,
    definition text not null, -- the whole statement
    partition smallint, -- whose leaf it is of; null: of a table that has none, or over all leaves
    is_over_leaves boolean not null, -- to be made last: it takes the leaves' own in
    constraint rebuild_index_pkey primary key (rebuild_id, number),
    constraint rebuild_index_of_rebuild foreign key (rebuild_id)
    references chronofact.rebuild (rebuild_id) on delete cascade
);

-- Messages of facts that can't be folded at once, since something parks or is given up: applied one after another, as
-- the projector would, when the tables have their indexes.
create table chronofact.rebuild_aside (
    rebuild_id bigint not null,
    partition smallint not null,
    kafka_offset bigint not null,
    appended_us bigint not null, -- microseconds since 1970
    message_key bytea not null, -- empty where the message has none
    message bytea not null,
    constraint rebuild_aside_pkey primary key (rebuild_id, partition, kafka_offset),
    constraint rebuild_aside_of_rebuild foreign key (rebuild_id)
    references chronofact.rebuild (rebuild_id) on delete cascade
);
