-- Which release was the last before the first one of a message at or after an offset, for each partition that has one.
select
    w.partition,
    min(r.number) - 1 as released
from unnest(%(partitions)s, %(next_offsets)s) as w (partition, next_offset)
inner join chronofact.released_event as r
    on
        w.partition = r.partition
        and w.next_offset <= r.kafka_offset
where
    r.projection = {projection}
    and r.topic_id = %(topic_id)s
    and r.fact_id is not null
group by w.partition
