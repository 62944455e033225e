-- The next messages set aside.
select
    a.kafka_offset,
    a.message_key,
    a.message,
    a.appended_us
from chronofact.rebuild_aside as a
where a.rebuild_id = %(rebuild_id)s and a.partition = %(partition)s and a.kafka_offset >= %(next_offset)s
order by a.kafka_offset
limit %(messages_max)s
