-- Verifications whose process died: whoever is at work on one holds the locks of both projections.
update chronofact.verification as v
set state = 'failed', finished_at = clock_timestamp(), failure = %(failure)s, failure_code = 'died', remedy = %(remedy)s
where
    v.state = 'running'
    and not exists (
        select l.pid
        from pg_locks as l
        where
            l.locktype = 'advisory'
            and l.database = (select d.oid from pg_database as d where d.datname = current_database())
            and l.classid::bigint = %(lock_class)s
            and l.objid::bigint = hashtext(v.left_projection)::bigint & 4294967295
            and l.objsubid = 2
    )
