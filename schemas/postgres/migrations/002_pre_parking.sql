-- What becomes of parked messages: tried again when asked for, or given up for good.
alter table chronofact.parked_event
add column attempts integer not null default 1, -- how often it was tried, the first time included
add column tried_at timestamptz not null default clock_timestamp(),
add column release_asked_at timestamptz; -- set to have it tried again; the projector clears it

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
