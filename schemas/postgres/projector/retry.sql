-- Tried again in vain: why now, and nothing of its fact is asked for any more.
update chronofact.parked_event as p
set
    code = case when p.kafka_offset = %(kafka_offset)s then %(code)s else p.code end,
    reason = case when p.kafka_offset = %(kafka_offset)s then %(reason)s else p.reason end,
    attempts = p.attempts + case when p.kafka_offset = %(kafka_offset)s then 1 else 0 end,
    tried_at = case when p.kafka_offset = %(kafka_offset)s then clock_timestamp() else p.tried_at end,
    release_asked_at = null
where
    p.projection = %(projection)s and p.topic_id = %(topic_id)s and p.partition = %(partition)s
    and (p.kafka_offset = %(kafka_offset)s or (p.fact_id = %(fact_id)s and p.release_asked_at is not null))
