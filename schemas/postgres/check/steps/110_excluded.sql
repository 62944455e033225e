-- Whom a decision excludes where: the one that is not kept while the kept one is active, or both while both are.
insert into excluded
select
    d.slice,
    x.no,
    d.over_from,
    d.over_to
from decided as d
inner join standing as l on d.slice = l.slice and d.l = l.no
inner join standing as r on d.slice = r.slice and d.r = r.no
cross join
    lateral (
        select d.l as no
        where (d.keep is null and l.is_active and r.is_active) or (d.keep = d.r and r.is_active)
        union all
        select d.r
        where (d.keep is null and l.is_active and r.is_active) or (d.keep = d.l and l.is_active)
    ) as x
where d.over_from < d.over_to
