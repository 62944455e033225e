-- Instants at which covers go round.
with recursive suspect as materialized (
    select
        c.cell,
        c.n,
        c.m
    from cover as c
    where c.cell in (select u.cell from upward as u)
),

onward (cell, a, b) as (
    select
        u.cell,
        u.n,
        u.m
    from upward as u
    union
    select
        o.cell,
        o.a,
        s.m
    from onward as o
    inner join suspect as s on o.cell = s.cell and o.b = s.n
)

insert into cyclic
select distinct o.cell
from onward as o
where o.a = o.b
