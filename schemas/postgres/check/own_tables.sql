-- The tables of this session.
select c.relname
from pg_class as c
where c.relnamespace = pg_my_temp_schema() and c.relkind = 'r'
