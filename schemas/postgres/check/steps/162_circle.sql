-- There, who is reached from whom over covers.
with recursive suspect as materialized (
    select
        c.cell,
        c.n,
        c.m
    from cover as c
    where c.cell in (select y.cell from cyclic as y)
),

onward (cell, a, b) as (
    select
        s.cell,
        s.n,
        s.m
    from suspect as s
    union
    select
        o.cell,
        o.a,
        s.m
    from onward as o
    inner join suspect as s on o.cell = s.cell and o.b = s.n
)

insert into circle
select o.cell, o.a, o.b
from onward as o
