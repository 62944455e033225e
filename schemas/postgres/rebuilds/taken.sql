-- What is in the way of making a projection of this name: its state, whether a schema is there, its last rebuild.
with last_one as (
    select
        b.rebuild_id,
        b.state
    from chronofact.rebuild as b
    where b.projection = %(projection)s
    order by b.rebuild_id desc
    limit 1
)

select
    (select p.state from chronofact.projection as p where p.name = %(projection)s) as projection_state,
    to_regnamespace(%(projection)s) is not null as has_schema,
    (select l.rebuild_id from last_one as l) as rebuild_id,
    (select l.state from last_one as l) as rebuild_state
