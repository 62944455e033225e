select f.fact_no into found_no
    from {schema}.fact as f
    where f.fact_id = resolve.fact_id and chronofact.serves({projection}, f.tenant_id);
    if found_no is not null then
        return query select r.* from {schema}.resolve(found_no, resolve.valid_at, resolve.system_as_of) as r;
        return;
    end if;
