-- Every event of some facts, to be folded again.
select
    e.fact_no,
    e.event_id,
    e.event_type,
    e.recorded_at,
    e.canonical_payload
from {schema}.event as e
where e.fact_no = any(%(fact_nos)s)
order by e.fact_no, e.event_seq
