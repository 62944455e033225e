-- The answers of the chunk at the cut, into the run's table.
insert into chronofact.{adjudicated}
select
    s.fact_no,
    s.lane,
    h.tenant_id,
    h.fact_id,
    case when s.lane > 0 then 'values' else (array['value', 'conflict'])[s.kind] end,
    coalesce(m.version_ids, array[v.version_id]),
    tstzrange(
        case when s.valid_from > pg_temp.neg() then pg_temp.instant(s.valid_from) end,
        case when s.valid_to < pg_temp.pos() then pg_temp.instant(s.valid_to) end
    )
from stretch as s
inner join head as h on s.fact_no = h.fact_no
left join member as m on s.cell = m.cell and s.versions > 1
left join ver as v on s.fact_no = v.fact_no and s.rank = v.rank and s.versions = 1
where s.kind > 0 and s.lane >= 0
union all
select
    p.fact_no,
    0,
    h.tenant_id,
    h.fact_id,
    'value',
    array[p.version_id],
    tstzrange(
        case when p.start > pg_temp.neg() then pg_temp.instant(p.start) end,
        case when p.stop < pg_temp.pos() then pg_temp.instant(p.stop) end
    )
from plain as p
inner join head as h on p.fact_no = h.fact_no
