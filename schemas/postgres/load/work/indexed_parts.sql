-- Partitions all of whose leaves have their indexes.
update chronofact.rebuild_part as p
set state = 'indexed', updated_at = clock_timestamp()
where
    p.rebuild_id = %(rebuild_id)s and p.state = 'loaded'
    and not exists (
        select from chronofact.rebuild_index as i
        where
            i.rebuild_id = p.rebuild_id and i.partition = p.partition
            and not exists (
                select from pg_class as x
                where x.relnamespace = to_regnamespace(%(projection)s) and x.relname = i.name
            )
    )
