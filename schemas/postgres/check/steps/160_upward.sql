-- Covers that go to an equal or later start: no cycle of covers is without one.
insert into upward
select
    c.cell,
    c.n,
    c.m
from (
    select
        o.cell,
        o.n,
        o.m,
        at.slice,
        s.start
    from cover as o
    inner join cell as at on o.cell = at.cell
    inner join standing as s on at.slice = s.slice and o.n = s.no
    offset 0 -- not all pairs of a slice first
) as c
inner join standing as m on c.slice = m.slice and c.m = m.no
where c.start <= m.start
