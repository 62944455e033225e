-- Everything but assertions, apart: they are few, and many steps look for them.
insert into act
select s.*
from said as s
where s.kind <> 'FactAsserted'
