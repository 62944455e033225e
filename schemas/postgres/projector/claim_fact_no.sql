-- The last fact number of a partition.
select coalesce(max(f.fact_no), %(first)s)
from {schema}.fact as f
where f.fact_no > %(first)s and f.fact_no <= %(last)s
