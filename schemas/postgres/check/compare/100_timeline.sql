-- Lane 0 at every instant of every slice.
select
    a.fact_no,
    'timeline' as relation,
    case
        when p.line is null then 'missing'
        when p.kind <> case when a.is_many then 3 else a.kind end then 'kind'
        when p.reason is distinct from case when not a.is_many then a.reason end then 'reason'
        when p.kind in (1, 2) and p.count is not null and (p.count <> a.versions or p.set_hash <> a.set_hash) then 'versions'
        when p.kind in (0, 3) and coalesce(p.count, 0) <> 0 then 'versions'
        when p.kind = 1 and p.count is not null and p.rank is distinct from a.rank then 'winner'
        else 'winner'
    end as aspect,
    concat(
        'lane 0, valid at ', pg_temp.spelled(a.t), ', known by event ', a.k,
        case when p.line is not null then concat(', painted by event ', p.seq) end
    ) as place,
    concat(pg_temp.kind_said(a.kind, a.reason), case when a.versions > 0 then concat(' by ', (
        select array_agg(o.no order by o.no) from code as o
        where o.cell = a.cell and o.code = 0
    )) end) as expected,
    case when p.line is not null then concat(
        case p.kind when 3 then 'look at the lanes' else pg_temp.kind_said(p.kind, p.reason) end, ' by ', p.versions,
        ' winner ', p.winner, ' key ', left(p.answer_key::text, 8)
    ) end as found
from answer as a
left join (
    select
        c.cell,
        max(p.line) as line
    from cell as c
    inner join painted as p on c.fact_no = p.fact_no
    where p.lane = 0 and p.seq <= c.k and p.valid_from <= c.t and p.valid_to > c.t
    group by c.cell
) as top on a.cell = top.cell
left join painted as p on top.line = p.line
where
    p.line is null
    or p.kind <> case when a.is_many then 3 else a.kind end
    or p.reason is distinct from case when not a.is_many then a.reason end
    or (p.kind in (1, 2) and p.count is not null and (p.count <> a.versions or p.set_hash <> a.set_hash))
    or (p.kind in (0, 3) and coalesce(p.count, 0) <> 0)
    or (p.kind = 1 and p.count is not null and p.rank is distinct from a.rank)
    or ((p.kind <> 1 or p.count is null) and p.winner is not null)
