-- Keep a message that can't be applied, as it came.
insert into chronofact.parked_event (
    projection, topic_id, partition, kafka_offset, fact_id, message_key, message, appended_at, code, reason
) values (
    %(projection)s, %(topic_id)s, %(partition)s, %(kafka_offset)s, %(fact_id)s, %(message_key)s, %(message)s,
    to_timestamp(%(appended_s)s), %(code)s, %(reason)s
)
