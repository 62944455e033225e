-- Of each partition the same of a table that has no leaf a partition, read once for all.
select
    greatest(least(o.fact_no >> {shift}, {last_partition}), 0) as partition,
    count(*) as lines,
    sum(o.h) as hash
from ({rows}) as o
group by partition
