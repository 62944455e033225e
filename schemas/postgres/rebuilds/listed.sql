-- Rebuilds, newest first, each with the sums of its partitions.
select
    r.*,
    coalesce(s.target, 0)::bigint as messages_total,
    coalesce(s.messages_read, 0)::bigint as messages_read,
    coalesce(s.messages, 0)::bigint as messages,
    coalesce(s.events, 0)::bigint as events,
    coalesce(s.facts, 0)::bigint as facts,
    coalesce(s.parked, 0)::bigint as parked
from chronofact.rebuild as r
left join lateral (
    select
        sum(p.target) as target,
        sum(p.messages_read) as messages_read,
        sum(p.messages) as messages,
        sum(p.events) as events,
        sum(p.facts) as facts,
        sum(p.parked) as parked
    from chronofact.rebuild_part as p
    where p.rebuild_id = r.rebuild_id
) as s on true
where
    (%(rebuild_id)s::bigint is null or r.rebuild_id = %(rebuild_id)s)
    and (%(before)s::bigint is null or r.rebuild_id < %(before)s)
order by r.rebuild_id desc
limit %(limit)s
