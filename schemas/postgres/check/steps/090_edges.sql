-- Stated edges that apply in each slice, with their effect in valid time; those of relations among them.
with counting as (
    select
        at.slice,
        e.src,
        e.dst,
        e.effective_at,
        e.mode,
        e.is_wish
    from stated as e
    inner join slice as at on e.fact_no = at.fact_no and e.seq <= at.k
    where e.taken_seq is null or e.taken_seq > at.k
    union all
    select
        r.slice,
        r.newer,
        r.l + r.r - r.newer,
        case when s.is_known then null else r.decided_at end,
        null,
        false
    from related as r
    inner join standing as s on r.slice = s.slice and r.newer = s.no
    where r.relation = 'supersedes'
)

insert into edge_at
select
    e.slice,
    e.src,
    e.dst,
    coalesce(e.effective_at, n.start),
    case
        when e.mode = 'replace' or (e.mode is null and n.stop = pg_temp.pos()) then coalesce(e.effective_at, n.start)
        else greatest(coalesce(e.effective_at, n.start), n.start)
    end,
    case
        when e.mode = 'replace' or (e.mode is null and n.stop = pg_temp.pos()) then pg_temp.pos()
        else n.ends
    end,
    d.version_id
from counting as e
inner join standing as n on e.slice = n.slice and e.src = n.no
inner join standing as o on e.slice = o.slice and e.dst = o.no
inner join ver as v on n.fact_no = v.fact_no and n.no = v.no
inner join ver as d on o.fact_no = d.fact_no and o.no = d.no
where n.is_ever and o.is_ever and (not e.is_wish or v.activated_seq <= n.k)
