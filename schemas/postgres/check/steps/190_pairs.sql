-- Conflict edges at the cut: rivals, contradictions and what decisions settled (semantics §3, Conflict).
with last_one as (
    select r.slice, r.fact_no
    from regime as r
    inner join head as h on r.fact_no = h.fact_no
    where r.is_last and r.instants_max is null and h.versions <= %(rivals_max)s
),

resolved as (
    select
        d.fact_no,
        d.left_id,
        d.right_id
    from decided as d
    inner join last_one as l on d.slice = l.slice
    where d.is_known
),

contradicting as (
    select
        r.fact_no,
        least(lv.version_id, rv.version_id) as left_id,
        greatest(lv.version_id, rv.version_id) as right_id
    from related as r
    inner join last_one as o on r.slice = o.slice
    inner join standing as l on r.slice = l.slice and r.l = l.no
    inner join standing as s on r.slice = s.slice and r.r = s.no
    inner join ver as lv on r.fact_no = lv.fact_no and r.l = lv.no
    inner join ver as rv on r.fact_no = rv.fact_no and r.r = rv.no
    where r.relation = 'contradicts' and l.is_active and s.is_active
),

eligible as materialized (
    select
        a.fact_no,
        o.cell,
        o.no,
        o.value_key
    from answer as a
    inner join last_one as l on a.slice = l.slice
    inner join code as o on a.cell = o.cell
    where a.kind = 2 and o.code = 0
),

rivals as (
    select distinct
        a.fact_no,
        least(a.no, b.no) as one,
        greatest(a.no, b.no) as other
    from eligible as a
    inner join eligible as b on a.cell = b.cell
    where a.no < b.no and a.value_key <> b.value_key
),

opened as (
    select
        r.fact_no,
        least(v.version_id, w.version_id) as left_id,
        greatest(v.version_id, w.version_id) as right_id,
        true as is_rival
    from rivals as r
    inner join ver as v on r.fact_no = v.fact_no and r.one = v.no
    inner join ver as w on r.fact_no = w.fact_no and r.other = w.no
    union all
    select c.*, false
    from contradicting as c
)

insert into pair
select
    o.fact_no,
    o.left_id,
    o.right_id,
    'OPEN',
    bool_or(o.is_rival)
from opened as o
left join resolved as r on o.fact_no = r.fact_no and o.left_id = r.left_id and o.right_id = r.right_id
where r.fact_no is null
group by o.fact_no, o.left_id, o.right_id
union all
select
    r.fact_no,
    r.left_id,
    r.right_id,
    'RESOLVED',
    false
from resolved as r
