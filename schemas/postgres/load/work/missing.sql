-- The indexes that a table still lacks.
select i.definition
from chronofact.rebuild_index as i
where
    i.rebuild_id = %(rebuild_id)s and i.relation = %(relation)s
    and not exists (
        select from pg_class as x
        where x.relnamespace = to_regnamespace(%(projection)s) and x.relname = i.name
    )
order by i.number
