-- Memories whose newest check left pairs undecided, by number behind a place; one in review is for a person to decide.
select
    f.fact_id,
    f.tenant_id,
    c.version_id,
    c.pairs,
    c.pending,
    c.reason,
    first_said.recorded_at as pending_since,
    c.fact_no,
    c.event_seq
from {schema}.checked as c
inner join {schema}.fact as f on c.fact_no = f.fact_no
cross join
    lateral (
        select min(e.recorded_at) as recorded_at
        from {schema}.checked as before
        inner join {schema}.event as e on before.fact_no = e.fact_no and before.event_seq = e.event_seq
        where before.fact_no = c.fact_no and before.version_id = c.version_id
    ) as first_said
where
    c.pending > 0
    and (c.fact_no, c.event_seq) > (%(after_fact_no)s::bigint, %(after_event_seq)s::bigint)
    and not exists (
        select from {schema}.checked as later
        where later.fact_no = c.fact_no and later.version_id = c.version_id and later.event_seq > c.event_seq
    )
order by c.fact_no, c.event_seq
limit %(memories_max)s
