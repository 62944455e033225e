-- What any projection of the topic has given up: met again it is skipped.
select distinct d.kafka_offset
from chronofact.dropped_event as d
where d.topic_id = %(topic_id)s and d.partition = %(partition)s
