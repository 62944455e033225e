-- Of messages without a line of their own, those whose event was applied from an earlier offset, or that were given up.
select
    n.place
from
    unnest(%(keys)s::uuid[], %(event_ids)s::uuid[], %(offsets)s::bigint[])
    with ordinality as n (fact_id, event_id, kafka_offset, place)
inner join {schema}.fact as f on n.fact_id = f.fact_id
inner join {schema}.event as e on f.fact_no = e.fact_no and n.event_id = e.event_id
where e.kafka_offset < n.kafka_offset
