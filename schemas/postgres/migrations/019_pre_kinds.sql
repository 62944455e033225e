-- What memories tell of is kept beside them, so that a search reads no keys. Projections that are there get it, too: a
-- table of memories is written anew once.
create or replace function chronofact.kinds(keys text[]) returns text
language sql immutable parallel safe strict
as $$
    select coalesce(string_agg(k.found[1], e'\n'), '')
    from regexp_matches(array_to_string(kinds.keys, e'\n'), '(?n)(?:^slot|-type)\|[^|]*\|(.*)', 'g') as k (found)
$$;

do $migration$
declare
    one record;
begin
    for one in
        select p.name from chronofact.projection as p
        where to_regclass(format('%I.memory', p.name)) is not null
    loop
        execute format(
            'alter table %I.memory add column kinds text not null generated always as (chronofact.kinds(keys)) stored', one.name
        );
    end loop;
end;
$migration$;
