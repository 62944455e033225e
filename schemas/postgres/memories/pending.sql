-- Memories some of whose pairs nobody has decided, by their newest check, oldest first.
select
    f.fact_id,
    f.tenant_id,
    c.version_id,
    c.pairs,
    c.pending,
    c.reason,
    said.recorded_at,
    first_said.recorded_at as pending_since
from {schema}.checked as c
inner join {schema}.fact as f on c.fact_no = f.fact_no
inner join {schema}.event as said on c.fact_no = said.fact_no and c.event_seq = said.event_seq
cross join
    lateral (
        select min(e.recorded_at) as recorded_at
        from {schema}.checked as before
        inner join {schema}.event as e on before.fact_no = e.fact_no and before.event_seq = e.event_seq
        where before.fact_no = c.fact_no and before.version_id = c.version_id
    ) as first_said
where
    c.pending > 0
    and not exists (
        select from {schema}.checked as later
        where later.fact_no = c.fact_no and later.version_id = c.version_id and later.event_seq > c.event_seq
    )
order by said.recorded_at, c.fact_no, c.event_seq
limit %(memories_max)s
