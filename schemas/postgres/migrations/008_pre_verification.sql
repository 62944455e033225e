-- Verifications: two projections of one topic held against each other at a common cut of the log, and what differs.
create table chronofact.verification (
    verification_id bigint generated always as identity,
    left_projection text not null, -- both outlive their projections
    right_projection text not null,
    rule_left smallint not null,
    rule_right smallint not null,
    aspects text not null,
    state text not null default 'running',
    started_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    cut_at timestamptz, -- when the last of the two snapshots was taken
    topic_id uuid,
    next_offsets bigint[], -- the cut, by partition from 0
    facts bigint not null default 0,
    facts_total bigint not null default 0,
    lines bigint not null default 0, -- compared, of the left side
    differences bigint not null default 0, -- facts that differ, and what differs of no one fact
    identical boolean, -- null until it is finished
    failure text,
    failure_code text,
    remedy text,
    constraint verification_pkey primary key (verification_id),
    constraint verification_aspects_are_known check (aspects in ('all', 'said')),
    constraint verification_state_is_known check (state in ('running', 'finished', 'failed'))
);

create index verification_of_right on chronofact.verification (right_projection, verification_id);

-- One table of one fact that differs: the lines that only one side has, the first of them as they stand.
create table chronofact.verification_difference (
    verification_id bigint not null,
    number bigint generated always as identity,
    fact_id uuid, -- null: of no one fact
    tenant_id uuid,
    subject_id uuid,
    subject_label text,
    scope_kind text,
    scope_key text,
    fact_key text,
    aspect text not null, -- the table
    left_lines bigint not null, -- how many only the left side has
    right_lines bigint not null,
    left_said json not null,
    right_said json not null,
    constraint verification_difference_pkey primary key (verification_id, number),
    constraint verification_difference_of_verification foreign key (verification_id)
    references chronofact.verification (verification_id) on delete cascade
);
