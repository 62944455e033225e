-- The topic that a projection was made from; of one that nothing was applied to yet, the one that it was rebuilt from.
select
    coalesce(
        (
            select c.topic_id
            from chronofact.checkpoint as c
            where c.projection = %(projection)s and c.next_offset > 0
            limit 1
        ),
        (
            select b.topic_id
            from chronofact.rebuild as b
            where b.projection = %(projection)s
            order by b.rebuild_id desc
            limit 1
        )
    ) as topic_id
