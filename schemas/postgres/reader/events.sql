-- One page of a fact's events in the order in which they were learned.
select
    e.event_seq,
    e.event_id,
    e.recorded_at,
    e.event_type,
    e.version_ids,
    e.canonical_payload,
    e.payload_hash,
    e.kafka_partition,
    e.kafka_offset
from {schema}.event as e
where e.fact_no = %(fact_no)s and e.event_seq > %(after)s
order by e.fact_no, e.event_seq
limit %(limit)s
