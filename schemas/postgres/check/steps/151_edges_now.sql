-- Stated edges that have effect; one to a near duplicate is one to its whole group.
insert into edge_now
select
    c.cell,
    true,
    e.src,
    coalesce(more.no, e.dst) as dst
from cell as c
inner join edge_at as e on c.slice = e.slice
left join grouped as g on e.slice = g.slice and e.dst = g.no
left join grouped as more on g.slice = more.slice and g.grp = more.grp
where c.is_tangled and c.t >= e.eff_from and c.t < e.eff_to
