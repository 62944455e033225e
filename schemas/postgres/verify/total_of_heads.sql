-- Heads were counted while their ids were read.
select
    {table} as aspect,
    k.lines,
    k.hash
from k
