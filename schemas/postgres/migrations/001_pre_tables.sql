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
    constraint parked_event_pkey primary key (projection, topic_id, partition, kafka_offset),
    constraint parked_event_of_projection foreign key (projection) references chronofact.projection (name)
);

create index parked_event_by_fact on chronofact.parked_event (projection, fact_id);
