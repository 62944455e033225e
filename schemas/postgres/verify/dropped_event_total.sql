-- What is given up: how much, and the sum of its hashes.
select
    count(*) as lines,
    sum(hash_record_extended((
        d.message_key, int8send(d.drop_offset), d.dropped_by, d.reason, timestamptz_send(d.dropped_at)
    ), int8xor(d.kafka_offset, d.partition::bigint << 48))) as hash
from chronofact.dropped_event as d
where d.projection = %(projection)s and d.topic_id = %(topic_id)s
