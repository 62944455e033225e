-- What a projection has given up, last first; one place, or all.
select
    d.topic_id,
    d.partition,
    d.kafka_offset,
    d.message_key,
    d.drop_offset,
    d.dropped_by,
    d.reason,
    d.dropped_at
from chronofact.dropped_event as d
where
    d.projection = %(projection)s
    and (%(partition)s::smallint is null or d.partition = %(partition)s)
    and (%(kafka_offset)s::bigint is null or d.kafka_offset = %(kafka_offset)s)
order by d.dropped_at desc, d.partition asc, d.kafka_offset desc
limit %(messages_max)s
