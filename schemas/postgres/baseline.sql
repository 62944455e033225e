-- What outlives every projection: which there are, how far each has come, which tenant reads which, what is parked.
create schema if not exists chronofact;

create table chronofact.projection (
    name text not null,
    rule smallint not null, -- rule version of the fold
    state text not null,
    fingerprint text, -- of the fold that fills it
    live_since timestamptz, -- the first switch to it, or its making as the first
    left_at timestamptz, -- the last route left it; the rollback window counts from here
    retired_at timestamptz,
    retired_why text, -- where it was let go within the rollback window
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
    stop_at bigint, -- no message at or behind it is applied
    stop_until timestamptz, -- for so long; a hold that nobody renews is over by itself
    constraint checkpoint_pkey primary key (projection, topic_id, partition),
    constraint checkpoint_of_projection foreign key (projection) references chronofact.projection (name),
    constraint checkpoint_counts_from_zero check (next_offset >= 0 and epoch >= 0 and partition >= 0),
    constraint checkpoint_hold_ends check ((stop_at is null) = (stop_until is null))
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

create extension if not exists vector; -- for embeddings of text memories

-- A text's words as they are, and by their English stems. Scripts that part no words are split into characters, which a
-- query asks for two by two.
create function chronofact.searched(words text) returns tsvector
language sql immutable parallel safe strict
as $$
    select to_tsvector('simple'::regconfig, w.words) || to_tsvector('english'::regconfig, w.words)
    from (
        select regexp_replace(
            left(searched.words, 100000),
            '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])',
            ' \1 ',
            'g'
        ) as words
    ) as w
$$;

-- Any of the query's words, those that mean nothing in English only where there are no others; null where it has none.
create function chronofact.asked(words text) returns tsquery
language sql immutable parallel safe strict
as $$
    with query as (
        select
            left(asked.words, 2000) as words,
            '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]'
            as unparted
    ),

    word as (
        select
            quote_literal(w.lexeme) as lexeme,
            ts_lexize('english_stem', w.lexeme) is not distinct from '{}' as is_empty
        from query as q
        cross join lateral unnest(chronofact.searched(regexp_replace(q.words, q.unparted, ' ', 'g'))) as w
    ),

    pair as (
        select distinct phraseto_tsquery('simple', substr(q.words, n, 1) || ' ' || substr(q.words, n + 1, 1)) as phrase
        from query as q
        cross join generate_series(1, length(q.words)) as n
        where
            substr(q.words, n, 1) ~ q.unparted
            and (
                substr(q.words, n + 1, 1) ~ q.unparted
                or (n = 1 or substr(q.words, n - 1, 1) !~ q.unparted) -- alone
            )
    ),

    part as (
        select w.lexeme as spelled
        from word as w
        where not w.is_empty or (select bool_and(one.is_empty) from word as one) and not exists (select from pair)
        union all
        select '(' || p.phrase::text || ')'
        from pair as p
        where numnode(p.phrase) > 0
    )

    select string_agg(p.spelled, ' | ' order by p.spelled)::tsquery
    from part as p
$$;

-- What a memory tells of, by its keys: slots and types of values, a line each. A key slot|user|prefer says prefer,
-- state-type|user|programming language says programming language.
create function chronofact.kinds(keys text[]) returns text
language sql immutable parallel safe strict
as $$
    select coalesce(string_agg(k.found[1], e'\n'), '')
    from regexp_matches(array_to_string(kinds.keys, e'\n'), '(?n)(?:^slot|-type)\|[^|]*\|(.*)', 'g') as k (found)
$$;

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

-- Shadow comparison: two projections beside one another over a window of live traffic, and where their answers differ.
create table chronofact.shadow (
    shadow_id bigint generated always as identity,
    old_projection text not null,
    new_projection text not null,
    state text not null default 'open',
    started_at timestamptz not null default clock_timestamp(),
    until timestamptz not null,
    ended_at timestamptz,
    sweeps bigint not null default 0,
    last_compared_at timestamptz, -- when the last sweep took its snapshot
    last_sweep_s double precision,
    facts bigint not null default 0, -- of the last sweep, on either side
    facts_in_flight bigint not null default 0, -- one side had not come as far; looked at again by the next sweep
    facts_differing bigint not null default 0,
    facts_beyond bigint not null default 0, -- of those, neither judged nor kept: they count as unknown
    failure text, -- why it ended before its window was over
    constraint shadow_pkey primary key (shadow_id),
    constraint shadow_of_projection foreign key (new_projection)
    references chronofact.projection (name) on delete cascade, -- a name may come again
    constraint shadow_of_two check (old_projection <> new_projection),
    constraint shadow_state_is_known check (state in ('open', 'over'))
);

create unique index shadow_open_once on chronofact.shadow (new_projection) where state = 'open';

-- One stretch of valid time, as known now, in which a fact's answers differ.
create table chronofact.shadow_difference (
    shadow_id bigint not null,
    number bigint generated always as identity,
    fact_id uuid not null,
    tenant_id uuid not null,
    subject_id uuid not null,
    scope_kind text not null,
    scope_key text not null,
    fact_key text not null,
    subject_label text,
    valid_during tstzrange, -- null: the answers are the same, and what lies behind them is not
    stretches integer not null default 1, -- how many this line stands for; more than one: from the first on
    class text not null,
    reason text not null,
    old_said json not null,
    new_said json not null,
    gone bytea[] not null, -- hashes of values that only the old side answers
    come bytea[] not null, -- and of those that only the new side does
    old_hash bytea, -- the fact's state hash; null: it is not there
    new_hash bytea,
    judged_at timestamptz not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    settled_at timestamptz, -- when a sweep found it gone
    constraint shadow_difference_pkey primary key (shadow_id, number),
    constraint shadow_difference_of_shadow foreign key (shadow_id)
    references chronofact.shadow (shadow_id) on delete cascade,
    constraint shadow_difference_once unique nulls not distinct (shadow_id, fact_id, valid_during),
    constraint shadow_difference_class_is_known check (
        class in ('correcting', 'discovered_conflict', 'scope_change', 'unknown')
    )
) with (fillfactor = 80);

create index shadow_difference_of_key
on chronofact.shadow_difference (shadow_id, tenant_id, subject_id, fact_key) where settled_at is null;

create index shadow_difference_unknown
on chronofact.shadow_difference (shadow_id) where class = 'unknown' and settled_at is null;

-- What a switch asks of a projection: the newest comparison of it, whether its window is over, and how many differences
-- nobody can explain, whether or not it is.
create view chronofact.shadow_standing as
select
    s.new_projection as projection,
    s.shadow_id,
    s.old_projection,
    s.state,
    s.until,
    s.last_compared_at,
    s.failure,
    s.state = 'over' and s.failure is null as is_over,
    s.facts_beyond + (
        select coalesce(sum(d.stretches), 0)
        from chronofact.shadow_difference as d
        where d.shadow_id = s.shadow_id and d.class = 'unknown' and d.settled_at is null
    )::bigint as unknown
from chronofact.shadow as s
where s.shadow_id = (
    select max(other.shadow_id) from chronofact.shadow as other where other.new_projection = s.new_projection
);

-- Every change of a route, in the order of commits, so that each can be taken back and accounted for.
create table chronofact.route_change (
    number bigint generated always as identity,
    tenant_id uuid, -- null: every tenant without a line of its own
    from_projection text not null, -- outlives both
    to_projection text not null,
    kind text not null,
    undoes bigint, -- the switch that a rollback takes back, once
    is_forced boolean not null default false,
    overridden text[] not null default '{}', -- codes of the refusals that were forced
    reason text,
    changed_by text not null,
    changed_at timestamptz not null default clock_timestamp(),
    constraint route_change_pkey primary key (number),
    constraint route_change_undone_once unique (undoes),
    constraint route_change_undoes_a_switch foreign key (undoes) references chronofact.route_change (number),
    constraint route_change_kind_is_known check (kind in ('switch', 'rollback')),
    constraint route_change_rollback_undoes check ((kind = 'rollback') = (undoes is not null)),
    constraint route_change_force_has_a_reason check (not is_forced or reason is not null)
);

create index route_change_of_tenant on chronofact.route_change (tenant_id, number);

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
    right_topic_id uuid, -- null: both sides were looked at at the same place
    right_next_offsets bigint[],
    facts bigint not null default 0,
    facts_total bigint not null default 0,
    lines bigint not null default 0, -- compared, of the left side
    differences bigint not null default 0, -- facts that differ, and what differs of no one fact
    identical boolean, -- null until it is finished
    failure text,
    failure_code text,
    remedy text,
    constraint verification_pkey primary key (verification_id),
    constraint verification_aspects_are_known check (aspects in ('all', 'said', 'across')),
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

-- What asking a model has cost, by day, for all adjudicators together.
create table chronofact.model_day (
    day date,
    calls bigint not null,
    tokens bigint not null, -- of running calls what they may use, of others what they used
    constraint model_day_pkey primary key (day)
);

-- What a model answered: evidence for the verdicts, which are in the log.
create table chronofact.model_answer (
    number bigint generated always as identity,
    asked_at timestamptz not null,
    tenant_id uuid not null,
    fact_id uuid not null,
    version_id uuid not null, -- the new memory
    pairs bigint not null,
    outcome text not null, -- answered, or why it is not believed
    model text not null, -- name and version, as the server told them
    prompt_version text not null,
    tokens_read bigint not null,
    tokens_written bigint not null,
    cost double precision not null,
    seconds double precision not null,
    raw bytea, -- the answer's body as it came, up to a limit; null: none came
    constraint model_answer_pkey primary key (number)
);

create index model_answer_of_version on chronofact.model_answer (version_id, number);
