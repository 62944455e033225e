-- Heads at places of which some are empty.
select
    {base} + g.place as fact_no,
    r.fact_id,
    r.h
from generate_series(1, {span}) as g (place)
left join ({rows}) as r on r.fact_no = {base} + g.place
