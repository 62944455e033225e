-- The events that some releases applied, by the number of each.
select
    r.number,
    e.kafka_partition,
    e.kafka_offset,
    e.event_seq,
    e.event_id,
    e.event_type,
    e.recorded_at,
    e.fact_no,
    f.fact_id,
    f.tenant_id,
    f.subject_id,
    f.subject_label,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.lane_mode,
    f.versions
from unnest(%(numbers)s) as w (number)
inner join chronofact.released_event as r on w.number = r.number
inner join {schema}.fact as f on r.fact_id = f.fact_id
inner join {schema}.event as e on f.fact_no = e.fact_no and r.kafka_offset = e.kafka_offset
where
    r.projection = {projection}
    and f.tenant_id = any(%(tenant_ids)s)
    {filters}
