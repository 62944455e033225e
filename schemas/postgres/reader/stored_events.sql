-- Every event of some facts, to be folded again.
select
    e.fact_no,
    uuid_send(e.event_id) as event_id,
    e.event_type,
    (extract(epoch from e.recorded_at) * 1000000)::bigint as recorded_at,
    e.canonical_payload
from {schema}.event as e
where e.fact_no = any(%(fact_nos)s)
order by e.fact_no, e.event_seq
