-- One parked message of each of some facts: among the first hundred one that can be decoded, where there is one.
select
    w.fact_id,
    (
        with firsts as (
            select
                e.code,
                e.kafka_offset,
                e.message
            from chronofact.parked_event as e
            where e.projection = {projection} and e.fact_id = w.fact_id
            order by e.kafka_offset asc
            limit 100
        )

        select f.message
        from firsts as f
        order by (f.code = 'held') desc, f.kafka_offset asc
        limit 1
    ) as message
from unnest(%(fact_ids)s) as w (fact_id)
