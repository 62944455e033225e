-- The answer at the cut's own time, and how long it is the same, whatever versions say it (semantics §4).
with whole as (
    select a.*
    from answer as a
    inner join regime as r on a.slice = r.slice
    where a.is_last and r.instants_max is null
),

several as (
    select
        d.cell,
        bit_xor(d.value_key) as gist
    from (
        select distinct
            w.cell,
            o.value_key
        from whole as w
        inner join code as o on w.cell = o.cell
        where w.kind > 1 and o.code = 0
    ) as d
    group by d.cell
),

marked as (
    select
        w.*,
        (w.kind, case w.kind when 0 then w.reason when 1 then w.value_key else s.gist end) is distinct from (
            lag(w.kind) over along,
            lag(case w.kind when 0 then w.reason when 1 then w.value_key else s.gist end) over along
        ) as is_new,
        lead(w.t, 1, pg_temp.pos()) over along as next_t
    from whole as w
    left join several as s on w.cell = s.cell
    window along as (partition by w.fact_no order by w.t)
),

runs as (
    select
        m.*,
        count(*) filter (where m.is_new) over (partition by m.fact_no order by m.t) as run
    from marked as m
),

lasting as (
    select
        r.fact_no,
        min(r.t) as valid_from,
        max(r.next_t) as valid_to
    from runs as r
    group by r.fact_no, r.run
    having min(r.t) <= %(now)s and max(r.next_t) > %(now)s
)

insert into now_wanted
select
    r.fact_no,
    r.kind,
    r.reason,
    r.versions,
    r.set_hash,
    v.no,
    l.valid_from,
    l.valid_to
from runs as r
inner join lasting as l on r.fact_no = l.fact_no
left join ver as v on r.kind = 1 and r.fact_no = v.fact_no and r.rank = v.rank
where r.t <= %(now)s and r.next_t > %(now)s
union all
select
    p.fact_no,
    case when %(now)s < p.start or %(now)s >= p.stop then 0 else 1 end,
    case when %(now)s < p.start then 4 when %(now)s >= p.stop then 2 end,
    case when %(now)s < p.start or %(now)s >= p.stop then 0 else 1 end,
    hashint8extended(1, 0),
    case when %(now)s >= p.start and %(now)s < p.stop then 1 end,
    case when %(now)s < p.start then pg_temp.neg() when %(now)s >= p.stop then p.stop else p.start end,
    case when %(now)s < p.start then p.start when %(now)s >= p.stop then pg_temp.pos() else p.stop end
from plain as p
