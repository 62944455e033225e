-- One instant of every stretch of valid time in which nothing can change, for every slice; both sides' bounds count.
with bound as (
    select
        v.fact_no,
        v.start as t,
        v.seq
    from ver as v
    union all
    select
        v.fact_no,
        v.stop,
        v.seq
    from ver as v
    union all
    select
        s.fact_no,
        s.effective_at,
        s.seq
    from act as s
    where s.kind = 'FactEnded'
    union all
    select
        e.fact_no,
        e.effective_at,
        e.seq
    from stated as e
    union all
    select
        s.fact_no,
        s.decided_at,
        s.seq
    from act as s
    where s.kind = 'RelationDeclared' and s.word = 'supersedes'
    union all
    select
        p.fact_no,
        p.valid_from,
        p.seq
    from painted as p
    union all
    select
        p.fact_no,
        p.valid_to,
        p.seq
    from painted as p
),

instant as (
    select
        b.fact_no,
        b.t,
        min(b.seq) as since
    from bound as b
    where b.t > pg_temp.neg() and b.t < pg_temp.pos()
    group by b.fact_no, b.t
    union all
    select
        h.fact_no,
        pg_temp.neg(),
        0
    from head as h
    where h.is_sound and not h.is_plain
),

-- of slices that are sampled about so many, drawn by fact, slice and seed
looked_at as (
    select
        r.*,
        i.t
    from regime as r
    inner join instant as i on r.fact_no = i.fact_no and r.k >= i.since
    where
        r.instants_max is null
        or (hashint8extended(i.t, r.fact_no + r.k + %(seed)s) & 65535) * (r.k + 1) < r.instants_max * 65536::bigint
),

numbered as materialized (
    select
        l.*,
        row_number() over () as cell
    from looked_at as l
),

foremost as (
    select
        n.cell,
        max(s.start) as over
    from numbered as n
    inner join standing as s on n.slice = s.slice
    where
        n.is_single
        and not n.is_tangled
        and s.is_able
        and s.is_automatic
        and s.auto_from <= n.t
        and s.auto_to > n.t
        and not (n.has_decisions and exists (
            select from excluded as x
            where x.slice = n.slice and x.no = s.no and x.over_from <= n.t and x.over_to > n.t
        ))
    group by n.cell
)

insert into cell
select
    n.cell,
    n.slice,
    n.fact_no,
    n.k,
    n.t,
    n.is_last,
    n.is_single,
    n.is_many,
    n.is_tangled,
    n.has_decisions,
    l.over
from numbered as n
left join foremost as l on n.cell = l.cell
