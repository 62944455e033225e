-- One table of it.
select
    {table} as aspect,
    count(*) as lines,
    sum(o.h) as hash
from ({rows}) as o
