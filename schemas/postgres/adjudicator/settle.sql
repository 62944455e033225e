-- A call is over: what it used takes the place of what it might have used, and its answer is kept.
with settled as (
    update chronofact.model_day as d
    set tokens = greatest(0, d.tokens - %(reserved)s::bigint + %(tokens_read)s::bigint + %(tokens_written)s::bigint)
    where d.day = %(day)s::date
)

insert into chronofact.model_answer (
    asked_at,
    tenant_id,
    fact_id,
    version_id,
    pairs,
    outcome,
    model,
    prompt_version,
    tokens_read,
    tokens_written,
    cost,
    seconds,
    raw
)
values (
    now(),
    %(tenant_id)s::uuid,
    %(fact_id)s::uuid,
    %(version_id)s::uuid,
    %(pairs)s::bigint,
    %(outcome)s::text,
    %(model)s::text,
    %(prompt_version)s::text,
    %(tokens_read)s::bigint,
    %(tokens_written)s::bigint,
    %(cost)s::double precision,
    %(seconds)s::double precision,
    %(raw)s::bytea
)
