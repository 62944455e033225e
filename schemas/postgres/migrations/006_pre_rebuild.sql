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
    waiting text, -- for what, in words
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
