-- Automatic edges of active versions that have effect, none where the same edge was stated.
insert into edge_now
select
    c.cell,
    false,
    n.no as src,
    coalesce(more.no, o.no) as dst
from cell as c
inner join standing as n on c.slice = n.slice
inner join standing as o on c.slice = o.slice and n.start > o.start
left join edge_at as e on c.slice = e.slice and n.no = e.src and o.no = e.dst
left join grouped as g on o.slice = g.slice and o.no = g.no
left join grouped as more on g.slice = more.slice and g.grp = more.grp
where
    c.is_tangled
    and c.is_single
    and n.is_active
    and n.is_automatic
    and n.auto_from <= c.t
    and n.auto_to > c.t
    and o.is_ever
    and e.slice is null
