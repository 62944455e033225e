-- The events of a partition in the order of the log, with what names their facts; the label goes with a fact's first,
-- and what was derived from a text with the first that asserts it.
select
    e.kafka_offset,
    e.fact_no,
    e.event_id,
    e.event_type,
    e.recorded_at,
    e.canonical_payload,
    e.payload_hash,
    f.fact_id,
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    case when e.event_seq = 1 then f.subject_label end as label,
    case when m.fact_no is not null then array[
        convert_to(m.extractor, 'UTF8'),
        json_send(m.frames),
        convert_to(array_to_json(m.keys)::text, 'UTF8'),
        convert_to(m.embedder, 'UTF8'),
        halfvec_send(m.embedding)
    ] end as derived
from {schema}.event as e
inner join {schema}.fact as f on e.fact_no = f.fact_no
left join {schema}.memory as m on e.fact_no = m.fact_no and e.event_seq = m.event_seq
where e.fact_no between %(first)s and %(last)s
order by e.kafka_offset
