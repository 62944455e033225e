-- How many messages are parked of a projection, and how many facts they hold.
select
    count(*) as messages,
    count(distinct p.fact_id) as facts
from chronofact.parked_event as p
where p.projection = %(projection)s
