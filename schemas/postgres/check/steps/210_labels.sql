-- Labels by the rules (semantics §3, Lifecycle); who covers is asked of what is shown.
with last_instant as (
    select
        o.slice,
        o.no,
        max(o.t) as t
    from code as o
    inner join label_wanted as w on o.slice = w.slice and o.no = w.no
    where o.is_held
    group by o.slice, o.no
    having max(o.t) = max(o.t) filter (where o.is_covered)
),

covered_at_last as (
    select
        l.slice,
        l.no,
        o.cell
    from last_instant as l
    inner join code as o on l.slice = o.slice and l.no = o.no and l.t = o.t
    where o.is_covered
),

superseding as (
    select distinct on (e.slice, e.src)
        e.slice,
        e.src,
        e.dst_id as version_id
    from edge_at as e
    order by e.slice asc, e.src asc, e.since asc, e.dst_id asc
),

said_confidence as materialized (
    select
        v.fact_no,
        v.no,
        s.seq,
        s.confidence,
        s.word = 'ACTIVE' as is_active,
        v.activated_seq
    from said as s
    inner join ver as v on s.fact_no = v.fact_no and s.v = v.version_id
    where s.kind = 'FactAsserted' and s.confidence is not null
),

confident as (
    select
        w.slice,
        w.no,
        max(s.confidence) as confidence
    from label_wanted as w
    inner join said_confidence as s on w.fact_no = s.fact_no and w.no = s.no
    where s.seq <= w.k and (s.is_active or s.activated_seq <= w.k)
    group by w.slice, w.no
)

insert into label
select
    w.slice,
    w.fact_no,
    w.k,
    w.no,
    case
        when s.is_revoked then 'REVOKED'
        when not s.is_active then 'PROPOSED'
        when l.cell is not null then 'SUPERSEDED'
        else 'ACTIVE'
    end,
    e.version_id,
    m.version_id,
    c.confidence,
    case when s.is_active then l.cell end
from label_wanted as w
inner join standing as s on w.slice = s.slice and w.no = s.no
left join covered_at_last as l on w.slice = l.slice and w.no = l.no
left join superseding as e on w.slice = e.slice and w.no = e.src
left join confident as c on w.slice = c.slice and w.no = c.no
left join grouped as g on w.slice = g.slice and w.no = g.no
left join ver as m on w.fact_no = m.fact_no and g.merged_into = m.no
