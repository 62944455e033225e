-- End the sessions of a rebuild's workers: none is ours yet. One that stands still would keep its locks for ever.
select pg_terminate_backend(a.pid, 1000)
from pg_stat_activity as a
where a.datname = current_database() and a.application_name = %(worker)s
