-- The facts of a partition whose later messages have to park behind an earlier one, and how many messages that are.
select
    uuid_send(p.fact_id) as fact_id,
    count(*) as messages
from chronofact.parked_event as p
where p.projection = %(projection)s and p.topic_id = %(topic_id)s and p.partition = %(partition)s
group by p.fact_id
