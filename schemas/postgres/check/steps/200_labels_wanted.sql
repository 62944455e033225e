-- Which labels are looked at: all at the cut, and those after the events where the projection says that one changed.
with change as (
    select
        o.fact_no,
        o.version_no,
        o.event_seq,
        min(o.event_seq) over (partition by o.fact_no, o.version_no) as first_seq
    from {schema}.version_label as o
    where o.fact_no between %(first)s and %(last)s
)

insert into label_wanted
select
    r.slice,
    r.fact_no,
    r.k,
    s.no
from regime as r
inner join standing as s on r.slice = s.slice
where r.is_last and r.instants_max is null
union all
select distinct
    r.slice,
    r.fact_no,
    r.k,
    s.no
from regime as r
inner join change as c on r.fact_no = c.fact_no
inner join standing as s on r.slice = s.slice and c.version_no = s.no
where not r.is_last and r.instants_max is null and (r.k = c.event_seq or r.k < c.first_seq)
