-- Events by offset, some of each window; those that were parked first come by their release instead.
-- The bounds of fact_no are those of the partition's leaf, so that no other leaf is opened.
select found.*
from unnest(%(partitions)s, %(firsts)s, %(ends)s) as w (partition, first_offset, end_offset)
cross join lateral ( -- noqa: ST05
    select
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
    from {schema}.event as e
    inner join {schema}.fact as f on e.fact_no = f.fact_no
    where
        e.fact_no >= w.partition << 40
        and e.fact_no < (w.partition + 1) << 40
        and e.kafka_offset >= w.first_offset
        and e.kafka_offset < w.end_offset
        and f.tenant_id = any(%(tenant_ids)s)
        {filters}
        and not exists (
            select
            from chronofact.released_event as r
            where
                r.projection = {projection}
                and r.topic_id = %(topic_id)s
                and r.partition = e.kafka_partition
                and r.kafka_offset = e.kafka_offset
        )
    order by e.kafka_offset
    limit %(limit)s
) as found
