-- An index that is still to be made, if there is any.
select i.name
from chronofact.rebuild_index as i
where
    i.rebuild_id = %(rebuild_id)s
    and not exists (
        select from pg_class as x
        where x.relnamespace = to_regnamespace(%(projection)s) and x.relname = i.name
    )
limit 1
