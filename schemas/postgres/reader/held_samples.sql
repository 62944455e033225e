-- One parked message of each of some facts: one that can be decoded, where there is one.
select distinct on (e.fact_id)
    e.fact_id,
    e.message
from chronofact.parked_event as e
where e.projection = {projection} and e.fact_id = any(%(fact_ids)s)
order by e.fact_id asc, (e.code = 'held') desc, e.kafka_offset asc
