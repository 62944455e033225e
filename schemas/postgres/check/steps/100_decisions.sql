-- Per pair and slice the latest decision that counts, and where both intervals, as asserted, overlap.
with taken as (
    select
        s.fact_no,
        s.named,
        min(s.seq) as seq
    from act as s
    where s.kind = 'FactRevoked' and s.named is not null
    group by s.fact_no, s.named
),

latest as (
    select distinct on (at.slice, least(s.v, s.w), greatest(s.v, s.w))
        at.slice,
        at.fact_no,
        least(s.v, s.w) as left_id,
        greatest(s.v, s.w) as right_id,
        s.keep
    from act as s
    inner join slice as at on s.fact_no = at.fact_no and s.seq <= at.k
    left join taken as t on s.fact_no = t.fact_no and s.event_id = t.named
    where
        s.kind = 'ConflictResolved'
        and s.v <> s.w
        and (s.keep is null or s.keep in (s.v, s.w))
        and (t.seq is null or t.seq > at.k)
    order by
        at.slice asc, least(s.v, s.w) asc, greatest(s.v, s.w) asc, s.decided_at desc, s.event_id desc
)

insert into decided
select
    d.slice,
    d.fact_no,
    d.left_id,
    d.right_id,
    l.no,
    r.no,
    case d.keep when d.left_id then l.no when d.right_id then r.no end,
    greatest(l.start, r.start),
    least(l.stop, r.stop),
    l.is_ever and r.is_ever
from latest as d
inner join ver as lv on d.fact_no = lv.fact_no and d.left_id = lv.version_id
inner join ver as rv on d.fact_no = rv.fact_no and d.right_id = rv.version_id
inner join standing as l on d.slice = l.slice and lv.no = l.no
inner join standing as r on d.slice = r.slice and rv.no = r.no
