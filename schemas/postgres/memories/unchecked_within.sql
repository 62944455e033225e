-- Memories that nobody has held against the others of their fact, of those that came with an event of some windows of
-- offsets. The bounds of fact_no are those of the partition's leaf, so that no other leaf is opened.
select
    f.fact_id,
    f.tenant_id,
    v.version_id,
    v.recorded_at,
    t.fact_no,
    t.version_no
from
    unnest(%(partitions)s::bigint[], %(firsts)s::bigint[], %(ends)s::bigint[])
        as w (partition, first_offset, end_offset)
cross join
    lateral ( -- noqa: ST05
        select
            e.fact_no,
            e.event_seq,
            unnest(e.version_ids) as version_id
        from {schema}.event as e
        where
            e.fact_no >= w.partition << 40
            and e.fact_no < (w.partition + 1) << 40
            and e.kafka_offset >= w.first_offset
            and e.kafka_offset < w.end_offset
            and e.event_type = 'FactAsserted'
        offset 0
    ) as said
inner join {schema}.version as v on said.fact_no = v.fact_no and said.version_id = v.version_id
inner join {schema}.memory as t
    on v.fact_no = t.fact_no and v.version_no = t.version_no and said.event_seq = t.event_seq
inner join {schema}.fact as f on t.fact_no = f.fact_no
left join lateral (
    select
        newest.fact_no,
        newest.lifecycle
    from {schema}.version_label as newest
    where newest.fact_no = t.fact_no and newest.version_no = t.version_no
    order by newest.event_seq desc
    limit 1
) as l on true
where
    not exists (
        select from {schema}.checked as c
        where c.fact_no = t.fact_no and c.version_id = v.version_id
    )
    and case when l.fact_no is null then v.lifecycle else l.lifecycle end <> 'REVOKED'
