-- Facts whose events are not numbered from 1 up to the head, in the order of the log and in their own partition.
with stepped as (
    select
        e.fact_no,
        e.event_seq,
        e.recorded_at,
        e.event_seq <> lag(e.event_seq, 1, 0::bigint) over same_fact + 1 as skips,
        e.kafka_offset <= lag(e.kafka_offset, 1, -1::bigint) over same_fact as is_disordered,
        e.recorded_at < lag(e.recorded_at) over same_fact as falls,
        e.kafka_partition <> e.fact_no >> 40 as is_elsewhere
    from {schema}.event as e
    window same_fact as (partition by e.fact_no order by e.event_seq)
),

told as (
    select
        s.fact_no,
        max(s.event_seq) as event_seq,
        max(s.recorded_at) as recorded_at,
        bool_or(s.skips or s.is_disordered or coalesce(s.falls, false) or s.is_elsewhere) as is_wrong
    from stepped as s
    group by s.fact_no
)

select
    coalesce(f.fact_no, t.fact_no) as fact_no,
    f.fact_id,
    count(*) over () as facts
from told as t
full join {schema}.fact as f on t.fact_no = f.fact_no
where
    f.fact_no is null
    or t.fact_no is null
    or t.is_wrong
    or t.event_seq <> f.event_seq
    or t.recorded_at <> f.recorded_at
order by fact_no
limit 5
