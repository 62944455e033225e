-- Take them out; what lies on a leaf goes with what lies over it. And no vacuum where nothing is ever dead.
do $$
declare
    one record;
begin
    for one in
        select i.relation, i.name, i.definition from chronofact.rebuild_index as i
        where i.rebuild_id = {rebuild_id} and i.partition is null
    loop
        if one.definition like 'alter table %' then
            execute format('alter table {schema}.%I drop constraint %I', one.relation, one.name);
        else
            execute format('drop index {schema}.%I', one.name);
        end if;
    end loop;
    for one in
        select c.relname, c.reltoastrelid <> 0 as has_toast from pg_class as c
        where c.relnamespace = {projection}::regnamespace and c.relkind = 'r'
    loop
        execute format('alter table {schema}.%I set (autovacuum_enabled = off)', one.relname);
        if one.has_toast then
            execute format('alter table {schema}.%I set (toast.autovacuum_enabled = off)', one.relname);
        end if;
    end loop;
end;
$$;
