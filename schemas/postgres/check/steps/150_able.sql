-- Who can cover at all: active, ends after it starts, and judged wrong by no decision at that instant.
insert into able
select
    c.cell,
    s.no
from cell as c
inner join standing as s on c.slice = s.slice
left join excluded as x on c.slice = x.slice and s.no = x.no and c.t >= x.over_from and c.t < x.over_to
where c.is_tangled and s.is_able and x.no is null
