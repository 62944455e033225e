-- Of each partition: how many facts, the sum of the hashes of their heads, and of their numbers with their ids. Numbers
-- of no partition count to the first or the last.
select
    greatest(least(h.fact_no >> {shift}, {last_partition}), 0) as partition,
    count(*) as lines,
    sum(h.h) as hash,
    sum(uuid_hash_extended(h.fact_id, h.fact_no)) as numbers
from ({rows}) as h
group by partition
