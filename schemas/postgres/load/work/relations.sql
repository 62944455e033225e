-- Tables that lack some of their indexes and are ready to get them, largest first.
select
    i.relation,
    i.is_over_leaves
from chronofact.rebuild_index as i
inner join pg_class as c
    on c.relnamespace = to_regnamespace(%(projection)s) and i.relation = c.relname
where
    i.rebuild_id = %(rebuild_id)s
    and not exists (
        select from pg_class as x
        where x.relnamespace = c.relnamespace and x.relname = i.name
    )
    and not exists (
        select from chronofact.rebuild_part as p
        where
            p.rebuild_id = i.rebuild_id and p.state in ('waiting', 'reading', 'folding')
            and (i.partition is null or p.partition = i.partition)
    )
group by i.relation, i.is_over_leaves, c.oid
order by i.is_over_leaves asc, pg_relation_size(c.oid) desc, i.relation asc
