-- What is parked of a projection, oldest first; of a held fact its first message, with how many wait behind it, or all.
with parked as (
    select
        p.*,
        p.fact_id is not null and row_number() over same_fact > 1 as is_behind,
        case when p.fact_id is null then 1 else count(*) over (partition by p.fact_id) end as fact_messages
    from chronofact.parked_event as p
    where
        p.projection = %(projection)s
        and (%(fact_id)s::uuid is null or p.fact_id = %(fact_id)s)
        and (%(partition)s::smallint is null or p.partition = %(partition)s)
    window same_fact as (partition by p.fact_id order by p.kafka_offset)
)

select
    p.topic_id,
    p.partition,
    p.kafka_offset,
    p.fact_id,
    p.message_key,
    p.code,
    p.reason,
    p.appended_at,
    p.parked_at,
    p.tried_at,
    p.attempts,
    p.release_asked_at,
    case when p.is_behind then 0 else p.fact_messages - 1 end as behind,
    octet_length(p.message) as size_bytes,
    count(*) over () as found
from parked as p
where
    (not p.is_behind or %(with_held)s)
    and (%(code)s::text is null or p.code = %(code)s)
    and (%(kafka_offset)s::bigint is null or p.kafka_offset = %(kafka_offset)s)
order by p.parked_at, p.partition, p.kafka_offset
limit %(messages_max)s
