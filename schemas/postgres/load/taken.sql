-- Whether the name is taken: by a projection that is not this rebuild's, or by a schema.
select
    exists(
        select from chronofact.projection as p
        where p.name = %(projection)s
    ) as is_projection,
    exists(
        select from pg_namespace as n
        where n.nspname = %(projection)s
    ) as is_schema
