-- Which of these messages were given up; a projection skips them when it meets them.
select
    d.partition,
    d.kafka_offset
from unnest(%(partitions)s, %(offsets)s) as q (partition, kafka_offset)
inner join chronofact.dropped_event as d
    on d.topic_id = %(topic_id)s and q.partition = d.partition and q.kafka_offset = d.kafka_offset
