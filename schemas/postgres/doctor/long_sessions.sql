-- Our sessions that have kept vacuum from its work for long: which, since when, and as what Postgres ends them.
select
    a.application_name as name,
    a.xact_start as since,
    a.pid
from pg_stat_activity as a
where
    a.datname = current_database() and a.application_name like 'chronofact %%'
    and (a.backend_xmin is not null or a.backend_xid is not null)
    and a.pid <> pg_backend_pid()
    and a.xact_start < clock_timestamp() - make_interval(secs => %(seconds)s)
order by a.xact_start
