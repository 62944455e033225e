-- What is parked: how much, and the sum of its hashes.
select
    count(*) as lines,
    sum(hash_record_extended((
        p.fact_id, p.message_key, p.message, timestamptz_send(p.appended_at), p.code, p.reason
    ), int8xor(p.kafka_offset, p.partition::bigint << 48))) as hash
from chronofact.parked_event as p
where p.projection = %(projection)s and p.topic_id = %(topic_id)s
