-- What asking a model has cost, by day, for all adjudicators together, and what it answered: evidence for the verdicts,
-- which are in the log. Neither is needed to rebuild anything.
create table chronofact.model_day (
    day date,
    calls bigint not null,
    tokens bigint not null, -- of running calls what they may use, of others what they used
    constraint model_day_pkey primary key (day)
);

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
