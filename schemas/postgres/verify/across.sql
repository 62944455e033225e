-- Facts of two projections of different topics that differ, whatever their numbers, partitions and offsets are.
-- Of a fact that one side has more events of, only those are compared that both have.
with paired as (
    select
        coalesce(l.fact_id, r.fact_id) as fact_id,
        l.fact_no as left_no,
        r.fact_no as right_no,
        least(l.event_seq, r.event_seq) as event_seq,
        l.event_seq <> r.event_seq as is_further,
        array_remove(
            array[
                case when l.fact_no is null then 'absent left' end,
                case when r.fact_no is null then 'absent right' end,
                case
                    when
                        (l.tenant_id, l.subject_id, l.scope_kind, l.scope_key, l.fact_key)
                        <> (r.tenant_id, r.subject_id, r.scope_kind, r.scope_key, r.fact_key)
                        then 'identity'
                end,
                case when l.event_seq = r.event_seq and l.recorded_at <> r.recorded_at then 'recorded_at' end,
                case when l.event_seq = r.event_seq and l.versions <> r.versions then 'versions' end,
                case when l.event_seq = r.event_seq and l.conflicts_open <> r.conflicts_open then 'conflicts' end,
                case when l.event_seq = r.event_seq and l.state_hash <> r.state_hash then 'state_hash' end,
                case
                    when l.event_seq = r.event_seq and l.subject_label is distinct from r.subject_label
                        then 'subject_label'
                end
            ],
            null
        ) as aspects
    from {schema}.fact as l
    full join {other_schema}.fact as r on l.fact_id = r.fact_id
),

left_said as (
    select
        p.fact_id,
        count(*) as events,
        sum(
            hash_record_extended((
                e.event_seq, e.event_id, timestamptz_send(e.recorded_at), e.event_type, e.version_ids, e.payload_hash
            ), e.event_seq)
        ) as hash
    from paired as p
    inner join {schema}.event as e on p.left_no = e.fact_no and p.event_seq >= e.event_seq
    group by p.fact_id
),

right_said as (
    select
        p.fact_id,
        count(*) as events,
        sum(
            hash_record_extended((
                e.event_seq, e.event_id, timestamptz_send(e.recorded_at), e.event_type, e.version_ids, e.payload_hash
            ), e.event_seq)
        ) as hash
    from paired as p
    inner join {other_schema}.event as e on p.right_no = e.fact_no and p.event_seq >= e.event_seq
    group by p.fact_id
),

left_derived as (
    select
        p.fact_id,
        sum(
            hash_record_extended((
                m.version_no, int8send(m.event_seq), m.text, m.extractor, json_send(m.frames), m.keys, m.embedder,
                halfvec_send(m.embedding)
            ), m.event_seq)
        ) as hash
    from paired as p
    inner join {schema}.memory as m on p.left_no = m.fact_no and p.event_seq >= m.event_seq
    group by p.fact_id
),

right_derived as (
    select
        p.fact_id,
        sum(
            hash_record_extended((
                m.version_no, int8send(m.event_seq), m.text, m.extractor, json_send(m.frames), m.keys, m.embedder,
                halfvec_send(m.embedding)
            ), m.event_seq)
        ) as hash
    from paired as p
    inner join {other_schema}.memory as m on p.right_no = m.fact_no and p.event_seq >= m.event_seq
    group by p.fact_id
),

compared as (
    select
        p.fact_id,
        coalesce(p.is_further, false) as is_further,
        coalesce(l.events, 0) as events,
        p.aspects || array_remove(
            array[
                case when coalesce(l.hash, 0) <> coalesce(r.hash, 0) then 'events' end,
                case when coalesce(m.hash, 0) <> coalesce(n.hash, 0) then 'memories' end
            ],
            null
        ) as aspects
    from paired as p
    left join left_said as l on p.fact_id = l.fact_id
    left join right_said as r on p.fact_id = r.fact_id
    left join left_derived as m on p.fact_id = m.fact_id
    left join right_derived as n on p.fact_id = n.fact_id
)

select
    count(*) as facts,
    coalesce(sum(c.events), 0)::bigint as events,
    count(*) filter (where c.is_further) as further,
    count(*) filter (where c.aspects <> '{}') as differences,
    coalesce(
        (
            array_agg(c.fact_id || ': ' || array_to_string(c.aspects, ', ') order by c.fact_id)
            filter (where c.aspects <> '{}')
        )[1:%(samples)s], '{}'
    ) as samples,
    transaction_timestamp() as looked_at
from compared as c
