-- What any projection of the topic has given up, with the keys of the messages: met again it is skipped.
select distinct
    d.kafka_offset,
    d.message_key
from chronofact.dropped_event as d
where d.topic_id = %(topic_id)s and d.partition = %(partition)s
