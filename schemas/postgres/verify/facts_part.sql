-- One table of it.
select
    {aspect}::text as aspect,
    r.fact_no,
    r.h
from ({rows}) as r
