-- What was done in the chunk; bounded are facts whose answers, edges or hash were not looked at everywhere.
select
    count(*) filter (where h.fact_id is not null) as facts,
    coalesce(sum(h.events), 0)::bigint as events,
    count(*) filter (
        where h.versions > %(rivals_max)s or (h.is_sound and not h.is_plain and (r.slice is null or r.instants_max is not null))
    ) as bounded
from head as h
left join regime as r on h.fact_no = r.fact_no and r.is_last
