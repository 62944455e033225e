-- What was parked and was applied after all, into places that lie behind where the projection was, the newest first.
select
    r.number,
    r.partition::integer as partition,
    r.kafka_offset
from chronofact.released_event as r
where r.projection = %(projection)s and r.number > %(after)s and r.fact_id is not null
order by r.number desc
limit %(lines_max)s
