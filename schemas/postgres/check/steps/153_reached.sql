-- What is reached from whom: first over a stated edge of one that can cover, then over edges of either sort.
with recursive passing as materialized (
    select distinct
        e.cell,
        e.src,
        e.dst
    from edge_now as e
),

reach (cell, n, m) as (
    select
        e.cell,
        e.src,
        e.dst
    from edge_now as e
    inner join able as a on e.cell = a.cell and e.src = a.no
    where e.is_stated
    union
    select
        r.cell,
        r.n,
        p.dst
    from reach as r
    inner join passing as p on r.cell = p.cell and r.m = p.src
)

insert into reached
select r.cell, r.n, r.m
from reach as r
where r.n <> r.m
