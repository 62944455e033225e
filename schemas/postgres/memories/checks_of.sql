-- The newest check of each of these memories of a fact.
with newest as (
    select distinct on (c.version_id) c.*
    from {schema}.checked as c
    where c.fact_no = %(fact_no)s and c.version_id = any(%(version_ids)s::uuid[])
    order by c.version_id asc, c.event_seq desc
)

select
    n.version_id,
    n.event_id,
    n.event_seq,
    e.recorded_at,
    n.pairs,
    n.decided,
    n.pending,
    n.reason,
    n.llm_call_made
from newest as n
inner join {schema}.event as e on n.fact_no = e.fact_no and n.event_seq = e.event_seq
order by n.event_seq
