-- Text memories: what was derived from each, and whether it was held against the others of its fact. Every projection
-- that is there already gets both tables; of checks it holds the events, of texts there are none yet.
create extension if not exists vector;

-- A text's words as they are, and by their English stems. Scripts that part no words are split into characters, which a
-- query asks for two by two.
create or replace function chronofact.searched(words text) returns tsvector
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
create or replace function chronofact.asked(words text) returns tsquery
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

do $$
declare
    one record;
begin
    for one in
        select p.name from chronofact.projection as p
        where to_regclass(format('%I.event', p.name)) is not null
    loop
        execute format('create table %I.memory (
            fact_no bigint not null,
            version_no integer not null,
            event_seq bigint not null,
            text text not null,
            extractor text not null,
            frames json not null,
            keys text[] not null,
            embedder text,
            embedding halfvec(384),
            search tsvector not null generated always as (chronofact.searched(text)) stored,
            constraint memory_pkey primary key (fact_no, version_no)
        )', one.name);
        execute format('alter table %I.memory alter column embedding set storage plain', one.name);
        execute format('create table %I.checked (
            fact_no bigint not null,
            event_id uuid not null,
            event_seq bigint not null,
            version_id uuid not null,
            pairs bigint not null,
            decided bigint not null,
            pending bigint not null,
            reason text,
            llm_call_made boolean not null,
            constraint checked_pkey primary key (fact_no, event_id)
        )', one.name);
        execute format('create index checked_of_version on %I.checked (version_id, fact_no, event_seq)', one.name);
        execute format(
            'create index checked_with_pending on %I.checked (fact_no, event_seq) where pending > 0', one.name
        );
        execute format('create index relation_of_left on %I.relation (left_version_id, fact_no)', one.name);
        execute format('create index relation_of_right on %I.relation (right_version_id, fact_no)', one.name);
        execute format('insert into %I.checked
            select
                e.fact_no,
                e.event_id,
                e.event_seq,
                j.version_id,
                j.pairs,
                j.decided,
                j.pending,
                j.reason,
                j.llm_call_made
            from %1$I.event as e
            cross join lateral json_to_record(e.canonical_payload::json) as j (
                version_id uuid,
                pairs bigint,
                decided bigint,
                pending bigint,
                reason text,
                llm_call_made boolean
            )
            where e.event_type = ''RelationsChecked''', one.name);
    end loop;
end;
$$;
