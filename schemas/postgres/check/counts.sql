-- What was done in the chunk.
select
    count(*) filter (where h.fact_id is not null) as facts,
    coalesce(sum(h.events), 0)::bigint as events,
    count(*) filter (where h.is_heavy or h.versions > 100) as bounded
from head as h
