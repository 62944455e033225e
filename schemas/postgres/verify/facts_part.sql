-- One table of it.
select
    {table}::text as aspect,
    r.fact_no,
    r.h
from ({rows}) as r
