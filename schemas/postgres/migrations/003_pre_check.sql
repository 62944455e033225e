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
