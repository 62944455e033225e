-- Near duplicates: who is one group, and into whom its members are merged.
with recursive linked as (
    select
        r.slice,
        r.l as a,
        r.r as b
    from related as r
    where r.relation = 'near_duplicate'
    union all
    select
        r.slice,
        r.r,
        r.l
    from related as r
    where r.relation = 'near_duplicate'
),

reached (slice, a, b) as (
    select l.slice, l.a, l.a from linked as l
    union
    select
        r.slice,
        r.a,
        l.b
    from reached as r
    inner join linked as l on r.slice = l.slice and r.b = l.a
),

named as (
    select
        r.slice,
        r.a as no,
        min(r.b) as grp
    from reached as r
    group by r.slice, r.a
),

survivor as (
    select distinct on (n.slice, n.grp)
        n.slice,
        n.grp,
        n.no
    from named as n
    inner join standing as s on n.slice = s.slice and n.no = s.no
    inner join ver as v on s.fact_no = v.fact_no and s.no = v.no
    where s.is_active
    order by n.slice asc, n.grp asc, s.is_known desc, case when s.is_known then s.start end asc, v.version_id asc
)

insert into grouped
select
    n.slice,
    n.no,
    n.grp,
    nullif(s.no, n.no)
from named as n
left join survivor as s on n.slice = s.slice and n.grp = s.grp
