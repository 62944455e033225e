-- What was parked for its own sake among a partition's last messages.
select p.kafka_offset
from chronofact.parked_event as p
where
    p.projection = %(projection)s and p.topic_id = %(topic_id)s and p.partition = %(partition)s
    and p.kafka_offset >= %(since)s and p.code <> all(%(not_counted)s)
order by p.kafka_offset
