-- resolve(fact, valid_at, system_as_of) of semantics §4; system_as_of null is everything applied.
-- Made anew whenever a projection begins or ceases to serve: each is asked for the facts of its tenants.
create or replace function chronofact.resolve(
    fact_id uuid,
    valid_at timestamptz default now(),
    system_as_of timestamptz default null,
    out kind text,
    out reason text,
    out value_json jsonb,
    out values_json jsonb,
    out version_id uuid,
    out version_ids uuid[],
    out valid_during tstzrange,
    out recorded_at timestamptz
)
returns setof record
language plpgsql stable parallel safe rows 1
set plan_cache_mode = force_generic_plan
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
    found_no bigint;
begin
    {shares}
    kind := 'unknown';
    reason := 'never_recorded';
    version_ids := '{}';
    valid_during := '(,)';
    return next;
end;
$$;

create or replace function chronofact.resolve(
    tenant_id uuid,
    subject_id uuid,
    scope_kind text,
    scope_key text,
    fact_key text,
    valid_at timestamptz default now(),
    system_as_of timestamptz default null,
    out kind text,
    out reason text,
    out value_json jsonb,
    out values_json jsonb,
    out version_id uuid,
    out version_ids uuid[],
    out valid_during tstzrange,
    out recorded_at timestamptz
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select r.*
    from chronofact.resolve(
        chronofact.fact_id(tenant_id, subject_id, scope_kind, scope_key, fact_key), valid_at, system_as_of
    ) as r
$$;

create or replace function chronofact.current(
    fact_id uuid,
    out kind text,
    out reason text,
    out value_json jsonb,
    out values_json jsonb,
    out version_id uuid,
    out version_ids uuid[],
    out valid_during tstzrange,
    out recorded_at timestamptz
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select r.* from chronofact.resolve(fact_id, now()) as r
$$;

create or replace function chronofact.current(
    tenant_id uuid,
    subject_id uuid,
    scope_kind text,
    scope_key text,
    fact_key text,
    out kind text,
    out reason text,
    out value_json jsonb,
    out values_json jsonb,
    out version_id uuid,
    out version_ids uuid[],
    out valid_during tstzrange,
    out recorded_at timestamptz
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select r.* from chronofact.resolve(tenant_id, subject_id, scope_kind, scope_key, fact_key, now()) as r
$$;
