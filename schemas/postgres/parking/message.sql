-- The bytes of a parked message.
select p.message
from chronofact.parked_event as p
where p.projection = %(projection)s and p.partition = %(partition)s and p.kafka_offset = %(kafka_offset)s
