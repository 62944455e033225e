-- The lanes of versions, at every instant of every slice since the fact has any.
with laned as (
    select
        p.fact_no,
        min(p.seq) as since
    from painted as p
    where p.lane > 0
    group by p.fact_no
),

wanted as (
    select
        a.fact_no,
        a.k,
        o.cell,
        o.t,
        o.no,
        o.code
    from answer as a
    inner join laned as l on a.fact_no = l.fact_no and a.k >= l.since
    inner join code as o on a.cell = o.cell
),

top as (
    select
        w.cell,
        w.no,
        max(p.line) as line
    from wanted as w
    inner join painted as p on w.fact_no = p.fact_no and w.no = p.lane
    where p.seq <= w.k and p.valid_from <= w.t and p.valid_to > w.t
    group by w.cell, w.no
)

select
    w.fact_no,
    'timeline' as relation,
    case
        when p.line is null then 'missing'
        when p.kind not in (0, 1) or (p.kind = 1) <> (w.code = 0) then 'kind'
        when p.versions is not null then 'versions'
        when p.winner is not null then 'winner'
        else 'reason'
    end as aspect,
    concat(
        'lane ', w.no, ', valid at ', pg_temp.spelled(w.t), ', known by event ', w.k,
        case when p.line is not null then concat(', painted by event ', p.seq) end
    ) as place,
    case w.code when 0 then 'eligible' else pg_temp.kind_said(0, w.code) end as expected,
    case when p.line is not null then pg_temp.kind_said(p.kind, p.reason) end as found
from wanted as w
left join top as t on w.cell = t.cell and w.no = t.no
left join painted as p on t.line = p.line
where
    p.line is null
    or p.kind not in (0, 1)
    or (p.kind = 1) <> (w.code = 0)
    or (w.code > 0 and p.reason is not null and p.reason <> w.code)
    or (w.code = 0 and p.reason is not null)
    or p.versions is not null
    or p.winner is not null
