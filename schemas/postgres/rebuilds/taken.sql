-- What is in the way of making a projection of this name: its state, whether a schema is there, its last rebuild.
select
    p.state as projection_state,
    to_regnamespace(%(projection)s) is not null as has_schema,
    r.rebuild_id,
    r.state as rebuild_state
from (select 1) as one
left join chronofact.projection as p on p.name = %(projection)s
left join lateral (
    select
        b.rebuild_id,
        b.state
    from chronofact.rebuild as b
    where b.projection = %(projection)s
    order by b.rebuild_id desc
    limit 1
) as r on true
