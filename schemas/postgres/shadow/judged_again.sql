-- Lines of facts that were judged anew: what was not found again is settled.
update chronofact.shadow_difference as d
set settled_at = %(now_at)s
where
    d.shadow_id = %(shadow_id)s
    and d.fact_id = any(%(fact_ids)s::uuid[])
    and d.settled_at is null
    and d.judged_at < %(now_at)s
