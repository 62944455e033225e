-- Covers that go to an equal or later start: no cycle of covers is without one. One join at a time ("offset 0"): every
-- other order makes pairs of versions first.
insert into upward
select
    c.cell,
    c.n,
    c.m
from (
    select
        p.cell,
        p.n,
        p.m,
        p.slice,
        s.start
    from (
        select
            o.cell,
            o.n,
            o.m,
            at.slice
        from cover as o
        inner join cell as at on o.cell = at.cell
        offset 0
    ) as p
    inner join standing as s on p.slice = s.slice and p.n = s.no
    offset 0
) as c
inner join standing as m on c.slice = m.slice and c.m = m.no
where c.start <= m.start
