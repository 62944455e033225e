-- Stretches of one lane that overlap, named before the constraint would refuse them.
with beside as (
    select
        a.fact_no,
        a.fact_id,
        a.lane,
        a.valid_during,
        lead(a.valid_during) over (
            partition by a.fact_no, a.lane order by a.valid_during
        ) as next_during
    from chronofact.{leaf} as a
)

select
    b.fact_no,
    b.fact_id,
    b.lane,
    b.valid_during::text,
    b.next_during::text
from beside as b
where b.valid_during && b.next_during
limit 1000
