-- What somebody wants tried again: a fact with all that is parked of it, or a message of no fact;
-- not while its partition is held.
select
    p.partition,
    uuid_send(p.fact_id) as fact_id,
    min(p.kafka_offset) as kafka_offset
from chronofact.parked_event as p
where
    p.projection = %(projection)s and p.topic_id = %(topic_id)s and p.partition = any(%(partitions)s::smallint[])
    and p.release_asked_at is not null
    and not exists (
        select
        from chronofact.checkpoint as c
        where
            c.projection = p.projection and c.topic_id = p.topic_id and c.partition = p.partition
            and c.stop_until > clock_timestamp()
    )
group by p.partition, p.fact_id, case when p.fact_id is null then p.kafka_offset end
order by min(p.release_asked_at)
