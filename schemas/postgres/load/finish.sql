-- All is loaded: the projector goes on from the targets; what was needed on the way goes.
do $$
declare
    one record;
begin
    for one in
        select c.relname, c.reltoastrelid <> 0 as has_toast from pg_class as c
        where c.relnamespace = {projection}::regnamespace and c.relkind = 'r'
    loop
        execute format('alter table {schema}.%I reset (autovacuum_enabled)', one.relname);
        if one.has_toast then
            execute format('alter table {schema}.%I reset (toast.autovacuum_enabled)', one.relname);
        end if;
    end loop;
end;
$$;

delete from chronofact.rebuild_aside as a where a.rebuild_id = {rebuild_id};

delete from chronofact.rebuild_index as i where i.rebuild_id = {rebuild_id};

insert into chronofact.checkpoint as c (projection, topic_id, partition, next_offset, epoch)
select
    r.projection,
    r.topic_id,
    p.partition,
    p.target,
    1 as epoch
from chronofact.rebuild_part as p
inner join chronofact.rebuild as r on p.rebuild_id = r.rebuild_id
where p.rebuild_id = {rebuild_id}
on conflict on constraint checkpoint_pkey do update
    set next_offset = greatest(c.next_offset, excluded.next_offset), epoch = c.epoch + 1;

update chronofact.rebuild_part as p
set
    parked = (
        select count(*)
        from chronofact.parked_event as e
        inner join chronofact.rebuild as r on e.projection = r.projection and e.topic_id = r.topic_id
        where r.rebuild_id = {rebuild_id} and e.partition = p.partition
    ),
    state = 'indexed',
    updated_at = clock_timestamp()
where p.rebuild_id = {rebuild_id};
