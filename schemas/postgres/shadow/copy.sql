-- One table's lines of some facts.
insert into {copy}
select t.*
from {schema}.{whole} as t
where t.fact_no = any(%(fact_nos)s::bigint[])
