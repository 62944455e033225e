-- Of what settled the newest lines are kept.
delete from chronofact.shadow_difference as d
where
    d.shadow_id = %(shadow_id)s
    and d.number in (
        select o.number
        from chronofact.shadow_difference as o
        where o.shadow_id = %(shadow_id)s and o.settled_at is not null
        order by o.settled_at desc, o.number desc
        offset %(settled_max)s
    )
