-- Which of these locks are kept by a session whose process has given no sign for so long, though it waits for nothing
-- here: since when and for how long; and whether its session is ended by this.
select
    k.key,
    a.state_change as since,
    extract(epoch from clock_timestamp() - a.state_change)::float8 as seconds,
    case when %(is_to_end)s then pg_terminate_backend(a.pid, 1000) else false end as is_ended
from unnest(%(keys)s::text[]) as k (key)
inner join pg_catalog.pg_locks as l
    on
        l.classid::bigint = %(lock_class)s
        and l.objid::bigint = hashtext(k.key)::bigint & 4294967295
inner join pg_stat_activity as a on l.pid = a.pid
where
    l.locktype = 'advisory' and l.granted and l.objsubid = 2
    and l.database = (select d.oid from pg_database as d where d.datname = current_database())
    and l.pid <> pg_backend_pid()
    and (a.state <> 'active' or a.wait_event_type = 'Client')
    and a.state_change < clock_timestamp() - make_interval(secs => %(still_s)s)
