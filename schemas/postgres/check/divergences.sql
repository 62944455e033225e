-- What a run found.
select
    d.number,
    d.fact_no,
    d.fact_id,
    d.relation,
    d.aspect,
    d.place,
    d.expected,
    d.found
from chronofact.divergence as d
where d.run_id = %(run_id)s and d.number > %(after)s
order by d.number
limit %(limit)s
