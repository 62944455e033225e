-- Covering by what was stated (semantics §3, (a)).
insert into cover
select
    r.cell,
    r.n,
    r.m
from reached as r
inner join cell as c on r.cell = c.cell
left join kept as k on c.slice = k.slice and r.n = k.n and r.m = k.m
where k.slice is null
