-- Whether a tenant's reads go to a projection: by its own line, else by the default one.
create or replace function chronofact.serves(projection text, tenant_id uuid) returns boolean
language sql stable parallel safe
as $$
    select serves.projection = (
        select r.projection
        from chronofact.tenant_route as r
        where r.tenant_id = serves.tenant_id or r.tenant_id is null
        order by r.tenant_id asc nulls last
        limit 1
    )
$$;

-- fact_id of the five parts: the hash of their canonical JSON array, marked as a UUID of version 8.
create or replace function chronofact.fact_id(
    tenant_id uuid, subject_id uuid, scope_kind text, scope_key text, fact_key text
) returns uuid
language sql immutable parallel safe
as $$
    select encode(
        set_byte(
            set_byte(h.id, 6, (get_byte(h.id, 6) & 15) | 128),
            8, (get_byte(h.id, 8) & 63) | 128
        ), 'hex'
    )::uuid
    from (
        select substr(sha256('fact'::bytea || '\x00'::bytea || convert_to(
            '[' || concat_ws(
                ',', to_json(tenant_id), to_json(subject_id), to_json(scope_kind), to_json(scope_key), to_json(fact_key)
            ) || ']', 'UTF8'
        )), 1, 16) as id
    ) as h
$$;
