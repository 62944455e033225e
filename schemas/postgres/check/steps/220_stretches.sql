-- The whole valid axis at the cut, neighbours that say the same joined; of a many-valued fact, a lane a version as well.
with shown as (
    select
        a.fact_no,
        case when r.is_many then -1 else 0 end as lane,
        a.t,
        a.kind,
        a.reason,
        a.cell,
        a.versions,
        a.rank,
        a.value_key,
        a.set_hash
    from answer as a
    inner join regime as r on a.slice = r.slice
    where a.is_last and r.instants_max is null
    union all
    select
        r.fact_no,
        o.no,
        o.t,
        case o.code when 0 then 1 else 0 end,
        case when o.code > 0 then o.code end,
        o.cell,
        1,
        o.rank,
        null,
        0
    from regime as r
    inner join code as o on r.slice = o.slice
    where r.is_last and r.instants_max is null and r.is_many
),

marked as (
    select
        s.*,
        (s.kind, s.reason, s.set_hash) is distinct from (
            lag(s.kind) over along, lag(s.reason) over along, lag(s.set_hash) over along
        ) as is_new
    from shown as s
    window along as (partition by s.fact_no, s.lane order by s.t)
)

insert into stretch
select
    m.fact_no,
    m.lane,
    m.t,
    lead(m.t, 1, pg_temp.pos()) over (partition by m.fact_no, m.lane order by m.t),
    m.kind,
    m.reason,
    m.cell,
    m.versions,
    m.rank,
    m.value_key,
    m.set_hash
from marked as m
where m.is_new
