-- Every index and constraint that stands on an index, as the standard tables have them; leaves first.
insert into chronofact.rebuild_index (rebuild_id, number, relation, name, definition, partition, is_over_leaves)
select
    %(rebuild_id)s::bigint as rebuild_id,
    row_number() over (order by c.relkind desc, c.relname asc, i.indisprimary desc, x.relname asc) as number,
    c.relname as relation,
    x.relname as name, -- of the constraint too
    case
        when k.oid is not null
            then format(
                'alter table %%I.%%I add constraint %%I %%s',
                n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)
            )
        else replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
    end as definition,
    case when c.relispartition then substring(c.relname from '_p([0-9]+)$')::smallint end as partition,
    c.relkind = 'p' as is_over_leaves
from pg_index as i
inner join pg_class as c on i.indrelid = c.oid
inner join pg_class as x on i.indexrelid = x.oid
inner join pg_namespace as n on c.relnamespace = n.oid
left join pg_constraint as k on i.indexrelid = k.conindid and k.contype in ('p', 'u', 'x')
where n.nspname = %(projection)s and c.relkind in ('r', 'p')
