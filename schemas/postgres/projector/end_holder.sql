-- End the session whose transaction keeps a partition's checkpoint locked: its owner lost it and stands still.
select pg_terminate_backend(l.pid, 1000)
from chronofact.checkpoint as c
inner join pg_catalog.pg_locks as l
    on c.xmax = l.transactionid and l.locktype = 'transactionid' and l.mode = 'ExclusiveLock' and l.granted
where
    c.projection = %(projection)s and c.topic_id = %(topic_id)s and c.partition = %(partition)s
    and l.pid <> pg_backend_pid()
