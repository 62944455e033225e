-- Open conflicts of one projection by tenant, of those whose reads go to it, the most first: how many pairs, in how
-- many facts, and for how many seconds the oldest stands.
with torn as (
    select
        f.tenant_id,
        f.conflicts_open,
        (
            select min(c.recorded_at)
            from {schema}.conflict as c
            where c.fact_no = f.fact_no and c.relation = 'OPEN'
        ) as since
    from {schema}.fact as f
    where f.conflicts_open > 0
)

select
    t.tenant_id,
    sum(t.conflicts_open)::bigint as conflicts,
    count(*) as facts,
    extract(epoch from clock_timestamp() - min(t.since))::double precision as oldest_s
from torn as t
group by t.tenant_id
having chronofact.serves({projection}, t.tenant_id)
order by conflicts desc, t.tenant_id asc
