-- Kept differences of facts that are alike now; of facts in flight nobody knows yet.
update chronofact.shadow_difference as d
set settled_at = %(now_at)s
where
    d.shadow_id = %(shadow_id)s
    and d.settled_at is null
    and not exists (select from looked as l where l.fact_id = d.fact_id)
