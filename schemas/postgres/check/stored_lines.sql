-- What the projection keeps of each message of a partition, by offset.
select
    e.kafka_offset,
    'event' as sort,
    e.fact_no,
    uuid_send(f.fact_id),
    uuid_send(e.event_id),
    e.event_seq,
    e.event_type,
    (extract(epoch from e.recorded_at) * 1000000)::bigint,
    (extract(epoch from e.recorded_before) * 1000000)::bigint,
    convert_to(e.canonical_payload, 'UTF8'),
    f.subject_label,
    case when m.fact_no is not null then array[
        convert_to(m.extractor, 'UTF8'),
        json_send(m.frames),
        convert_to(array_to_json(m.keys)::text, 'UTF8'),
        convert_to(m.embedder, 'UTF8'),
        halfvec_send(m.embedding)
    ] end
from (
    select
        o.*,
        lag(o.recorded_at) over (partition by o.fact_no order by o.event_seq) as recorded_before
    from {schema}.event as o
    where o.fact_no >= %(partition)s::bigint << 40 and o.fact_no < (%(partition)s::bigint + 1) << 40
) as e
left join {schema}.fact as f on e.fact_no = f.fact_no
left join {schema}.memory as m on e.fact_no = m.fact_no and e.event_seq = m.event_seq
union all
select
    p.kafka_offset,
    'parked',
    null,
    uuid_send(p.fact_id),
    null,
    0,
    p.code,
    (extract(epoch from p.appended_at) * 1000000)::bigint,
    null,
    p.message,
    null,
    null
from chronofact.parked_event as p
where p.projection = %(projection)s and p.topic_id = %(topic_id)s and p.partition = %(partition)s
union all
select
    d.kafka_offset,
    'dropped',
    null,
    null,
    null,
    0,
    '',
    0,
    null,
    d.message_key,
    null,
    null
from chronofact.dropped_event as d
where d.projection = %(projection)s and d.topic_id = %(topic_id)s and d.partition = %(partition)s
order by 1
