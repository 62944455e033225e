-- What is parked of a partition, in the order of the log.
select
    p.kafka_offset,
    p.message_key,
    p.message,
    p.appended_at
from chronofact.parked_event as p
where p.projection = %(projection)s and p.topic_id = %(topic_id)s and p.partition = %(partition)s
order by p.kafka_offset
