-- Whether the tables are there: parts are made with them.
select exists(
    select from chronofact.rebuild_part as p
    where p.rebuild_id = %(rebuild_id)s
) as is_prepared
