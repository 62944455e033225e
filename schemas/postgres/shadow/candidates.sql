-- Facts to judge: new ones, or other than when they were judged, then those that nobody could explain, the longest
-- unjudged ones first; of those that were never kept no more than there is room for.
with kept as (
    select
        d.fact_id,
        bool_and(
            d.old_hash is not distinct from l.old_hash and d.new_hash is not distinct from l.new_hash
        ) as is_as_judged,
        bool_or(d.class = 'unknown') as is_unknown,
        min(d.judged_at) as judged_at
    from chronofact.shadow_difference as d
    inner join looked as l on d.fact_id = l.fact_id
    where d.shadow_id = %(shadow_id)s and d.settled_at is null and not l.is_in_flight
    group by d.fact_id
),

room as (
    select greatest(%(kept_max)s - count(distinct d.fact_id), 0) as facts
    from chronofact.shadow_difference as d
    where d.shadow_id = %(shadow_id)s and d.settled_at is null
)

select
    n.fact_id,
    n.old_no,
    n.new_no,
    n.old_hash,
    n.new_hash,
    n.old_seq,
    n.new_seq,
    n.is_said_otherwise
from (
    select
        l.*,
        k.is_unknown,
        k.judged_at,
        k.fact_id is null as is_fresh,
        row_number() over (partition by k.fact_id is null order by l.fact_id) as turn
    from looked as l
    left join kept as k on l.fact_id = k.fact_id
    where not l.is_in_flight and (k.fact_id is null or k.is_unknown or not k.is_as_judged)
) as n
where not n.is_fresh or n.turn <= (select r.facts from room as r)
order by n.judged_at asc nulls first, n.fact_id asc
limit %(judged_max)s
