-- Text memories: what was derived from each, and whether it was held against the others of its fact. Every projection
-- that is there already gets both tables; of checks it holds the events, of texts there are none yet.
create extension if not exists vector;

do $$
declare
    one record;
begin
    for one in
        select p.name from chronofact.projection as p
        where to_regclass(format('%I.event', p.name)) is not null
    loop
        execute format('create table %I.text (
            fact_no bigint not null,
            version_no integer not null,
            event_seq bigint not null,
            text text not null,
            extractor text not null,
            frames json not null,
            keys text[] not null,
            embedder text,
            embedding halfvec(384),
            search tsvector not null generated always as (to_tsvector(''english'', left(text, 100000))) stored,
            constraint text_pkey primary key (fact_no, version_no)
        )', one.name);
        execute format('alter table %I.text alter column embedding set storage plain', one.name);
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
        execute format('create index checked_of_version on %I.checked (fact_no, version_id, event_seq)', one.name);
        execute format(
            'create index checked_with_pending on %I.checked (fact_no, event_seq) where pending > 0', one.name
        );
        execute format('create index relation_of_left on %I.relation (fact_no, left_version_id)', one.name);
        execute format('create index relation_of_right on %I.relation (fact_no, right_version_id)', one.name);
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
