-- Each version at each instant: eligible, or the first reason why not (semantics §4).
with excluded_now as (
    select distinct
        c.cell,
        x.no
    from cell as c
    inner join excluded as x on c.slice = x.slice
    where c.has_decisions and c.t >= x.over_from and c.t < x.over_to
),

covered_now as (
    select distinct
        c.cell,
        c.m as no
    from cover as c
)

insert into code
select
    c.cell,
    c.slice,
    c.t,
    s.no,
    case
        when not s.is_active then case when s.is_revoked then 5 else 6 end
        when c.t >= s.ends then 2
        when c.t < s.start then 4
        when x.no is not null then 1
        when v.no is not null or c.over > s.start then 3
        when g.merged_into is not null then 6
        else 0
    end,
    s.is_able and c.t >= s.start and c.t < s.ends,
    v.no is not null or coalesce(c.over > s.start, false),
    s.value_key,
    s.rank
from cell as c
inner join standing as s on c.slice = s.slice
left join excluded_now as x on c.cell = x.cell and s.no = x.no
left join covered_now as v on c.cell = v.cell and s.no = v.no
left join grouped as g on c.slice = g.slice and s.no = g.no
