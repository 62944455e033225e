-- Tables of answers but those of runs at work and of the newest finished one, with leaves that were never attached.
select c.relname
from pg_class as c
where
    c.relnamespace = 'chronofact'::regnamespace
    and c.relkind in ('r', 'p')
    and not c.relispartition
    and c.relname ~ '^adjudicated_[0-9]+(_[0-9]+)?$'
    and not exists (
        select from chronofact.reconciliation_run as r
        where
            r.adjudicated = substring(c.relname from '^adjudicated_[0-9]+')
            and (r.state = 'running' or r.run_id = (
                select max(n.run_id) from chronofact.reconciliation_run as n
                where n.state = 'finished' and n.adjudicated is not null
            ))
    )
