-- The answer at the cut's own time, and how long it is the same, whatever versions say it (semantics §4): from where the
-- last other answer ends to where the next one begins.
with several as (
    select
        d.cell,
        bit_xor(d.value_key) as gist
    from (
        select distinct
            s.cell,
            o.value_key
        from stretch as s
        inner join code as o on s.cell = o.cell
        where s.lane < 1 and s.kind > 1 and o.code = 0
    ) as d
    group by d.cell
),

whole as materialized (
    select
        s.*,
        case s.kind when 0 then s.reason when 1 then s.value_key else v.gist end as gist
    from stretch as s
    left join several as v on s.cell = v.cell and s.kind > 1
    where s.lane < 1
),

lasting as (
    select
        n.fact_no,
        coalesce(max(o.valid_to) filter (where o.valid_to <= n.valid_from), pg_temp.neg()) as valid_from,
        coalesce(min(o.valid_from) filter (where o.valid_from >= n.valid_to), pg_temp.pos()) as valid_to
    from whole as n
    left join whole as o on n.fact_no = o.fact_no and (n.kind, n.gist) is distinct from (o.kind, o.gist)
    where n.valid_from <= %(now)s and n.valid_to > %(now)s
    group by n.fact_no
)

insert into now_wanted
select
    n.fact_no,
    n.kind,
    n.reason,
    n.versions,
    n.set_hash,
    v.no,
    l.valid_from,
    l.valid_to
from whole as n
inner join lasting as l on n.fact_no = l.fact_no
left join ver as v on n.kind = 1 and n.fact_no = v.fact_no and n.rank = v.rank
where n.valid_from <= %(now)s and n.valid_to > %(now)s
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
