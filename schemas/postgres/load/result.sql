-- What a load has made; facts whose messages were set aside have the numbers behind the others.
with further as (
    select
        sum(f.event_seq) as events,
        count(*) as facts
    from chronofact.rebuild_part as p
    inner join {schema}.fact as f on p.fact_no_last < f.fact_no and f.fact_no < (p.partition + 1)::bigint << 40
    where p.rebuild_id = %(rebuild_id)s
)

select
    coalesce(sum(p.target), 0)::bigint as messages,
    coalesce(sum(p.events) + max(further.events), sum(p.events), 0)::bigint as events,
    coalesce(sum(p.facts) + max(further.facts), 0)::bigint as facts,
    coalesce(sum(p.parked), 0)::bigint as parked,
    (select count(*) from chronofact.dropped_event as d where d.projection = %(projection)s) as dropped
from chronofact.rebuild_part as p
cross join further
where p.rebuild_id = %(rebuild_id)s
