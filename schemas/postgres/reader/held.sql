-- How many messages of each fact are parked.
select
    e.fact_id,
    count(*) as held
from chronofact.parked_event as e
where e.projection = {projection} and e.fact_id = any(%(fact_ids)s)
group by e.fact_id
