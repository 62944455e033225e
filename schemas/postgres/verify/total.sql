-- One table of it.
select
    {aspect} as aspect,
    count(*) as lines,
    sum(o.h) as hash
from ({rows}) as o
