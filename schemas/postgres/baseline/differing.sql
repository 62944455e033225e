-- Facts of ours that differ, to be judged.
select b.fact_no
from beside as b
where not b.is_equal and b.fact_no is not null
order by b.fact_no
