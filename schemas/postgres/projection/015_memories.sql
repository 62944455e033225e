-- What was derived from texts when they were written: a line a text memory, of the first event that asserted it. It is
-- no part of any id or state hash, and never changes.
create table {schema}.memory (
    fact_no bigint not null,
    version_no integer not null,
    event_seq bigint not null, -- of that event
    text text not null, -- the version's value
    extractor text not null,
    frames json not null,
    keys text[] not null, -- what later memories find it by
    embedder text, -- null with the embedding: there is none
    embedding halfvec(384),
    search tsvector not null generated always as (chronofact.searched(text)) stored,
    kinds text not null generated always as (chronofact.kinds(keys)) stored,
    constraint memory_pkey primary key (fact_no, version_no)
);

-- Read with every line that is looked at for what is near, so never apart from it.
alter table {schema}.memory alter column embedding set storage plain;

-- That a text memory was held against the others of its fact, and what came of it; the newest of a version counts.
create table {schema}.checked (
    fact_no bigint not null,
    event_id uuid not null,
    event_seq bigint not null,
    version_id uuid not null,
    pairs bigint not null,
    decided bigint not null,
    pending bigint not null,
    reason text, -- names the pending pairs
    llm_call_made boolean not null,
    constraint checked_pkey primary key (fact_no, event_id)
);

create index checked_of_version on {schema}.checked (version_id, fact_no, event_seq);

create index checked_with_pending on {schema}.checked (fact_no, event_seq) where pending > 0;

-- All that was said of one memory, however many its fact has, or where only its id is known.
create index relation_of_left on {schema}.relation (left_version_id, fact_no);

create index relation_of_right on {schema}.relation (right_version_id, fact_no);
