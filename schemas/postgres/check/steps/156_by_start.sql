-- Covering by a later start, unless the other one covers by statement (semantics §3, (b)).
insert into cover
select distinct
    a.cell,
    a.src,
    a.dst
from edge_now as a
inner join cell as c on a.cell = c.cell
inner join able as b on a.cell = b.cell and a.src = b.no
left join kept as k on c.slice = k.slice and a.src = k.n and a.dst = k.m
left join cover as s on a.cell = s.cell and a.dst = s.n and a.src = s.m
where not a.is_stated and a.src <> a.dst and k.slice is null and s.cell is null
