-- Given up for good, whether it was parked or skipped.
with gone as (
    delete from chronofact.parked_event as p
    where
        p.projection = %(projection)s and p.topic_id = %(topic_id)s
        and p.partition = %(partition)s and p.kafka_offset = %(kafka_offset)s
)

insert into chronofact.dropped_event (
    projection, topic_id, partition, kafka_offset, message_key, drop_offset, dropped_by, reason, dropped_at
) values (
    %(projection)s, %(topic_id)s, %(partition)s, %(kafka_offset)s, %(message_key)s, %(drop_offset)s, %(dropped_by)s,
    %(reason)s, to_timestamp(%(dropped_s)s)
)
on conflict on constraint dropped_event_pkey do nothing
