-- What became of messages that were to be tried again: still asked for, still parked, applied.
select
    count(*) filter (where p.release_asked_at is not null) as asked,
    count(*) filter (where p.kafka_offset is not null) as parked,
    count(*) filter (where r.number > %(last_number)s) as released
from unnest(%(partitions)s::smallint[], %(kafka_offsets)s::bigint[]) as named (partition, kafka_offset)
left join chronofact.parked_event as p
    on named.partition = p.partition and named.kafka_offset = p.kafka_offset and p.projection = %(projection)s
left join chronofact.released_event as r
    on named.partition = r.partition and named.kafka_offset = r.kafka_offset and r.projection = %(projection)s
