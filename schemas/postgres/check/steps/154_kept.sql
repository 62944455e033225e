-- Whom a decision that counts keeps against whom.
insert into kept
select
    d.slice,
    d.keep as m,
    d.l + d.r - d.keep as n
from decided as d
inner join standing as s on d.slice = s.slice and d.keep = s.no
where s.is_active
