-- Relations of text memories that count in each slice: per pair a person's over the others', then the latest.
insert into related
select distinct on (at.slice, l.no, r.no)
    at.slice,
    at.fact_no,
    l.no,
    r.no,
    s.word,
    case s.keep when lv.version_id then l.no when rv.version_id then r.no end,
    s.decided_at
from act as s
inner join slice as at on s.fact_no = at.fact_no and s.seq <= at.k
inner join ver as lv on s.fact_no = lv.fact_no and least(s.v, s.w) = lv.version_id
inner join ver as rv on s.fact_no = rv.fact_no and greatest(s.v, s.w) = rv.version_id
inner join standing as l on at.slice = l.slice and lv.no = l.no
inner join standing as r on at.slice = r.slice and rv.no = r.no
where
    s.kind = 'RelationDeclared'
    and s.v <> s.w
    and (s.word <> 'supersedes' or s.keep in (s.v, s.w))
    and l.is_ever
    and r.is_ever
order by
    at.slice asc, l.no asc, r.no asc, s.decided_by = 'person' desc, s.decided_at desc, s.event_id desc
