-- Each version at each instant: eligible, or the first reason why not (semantics §4).
with said_against as (
    select
        c.cell,
        x.no,
        1 as code,
        false as is_covered
    from cell as c
    inner join excluded as x on c.slice = x.slice
    where c.has_decisions and c.t >= x.over_from and c.t < x.over_to
    union all
    select
        c.cell,
        c.m,
        3,
        true
    from cover as c
    union all
    select
        c.cell,
        g.no,
        6,
        false
    from cell as c
    inner join grouped as g on c.slice = g.slice
    where c.is_tangled and g.merged_into is not null
),

-- one left join below in place of three
against as (
    select
        s.cell,
        s.no,
        min(s.code) as code,
        bool_or(s.is_covered) as is_covered
    from said_against as s
    group by s.cell, s.no
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
        when c.over > s.start and coalesce(x.code, 0) <> 1 then 3
        else coalesce(x.code, 0)
    end,
    s.is_able and c.t >= s.start and c.t < s.ends,
    coalesce(x.is_covered, false) or coalesce(c.over > s.start, false),
    s.value_key,
    s.rank
from cell as c
inner join standing as s on c.slice = s.slice
left join against as x on c.cell = x.cell and s.no = x.no
