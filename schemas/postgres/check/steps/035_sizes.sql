-- How many versions each fact has; a fact of very many is looked at by samples.
update head as h
set versions = n.versions, is_heavy = n.versions > %(heavy_min)s
from (
    select
        v.fact_no,
        count(*) as versions
    from ver as v
    group by v.fact_no
) as n
where h.fact_no = n.fact_no
