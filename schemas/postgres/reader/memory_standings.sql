-- Of some facts which versions hold at the instant as known then, which gave way, and which say nothing of themselves:
-- merged ones and wishes. By the timeline, as all answers; lane 0 says whether it answers alone.
with shown as (
    select distinct on (t.fact_no, t.lane)
        t.fact_no,
        t.lane,
        t.kind,
        t.reason,
        t.versions
    from unnest(%(fact_nos)s, %(system_as_ofs)s) as q (fact_no, as_of)
    inner join {schema}.timeline as t on q.fact_no = t.fact_no
    where
        t.fact_no = any(%(fact_nos)s) -- names the leaves before they are opened
        and t.known_from <= coalesce(q.as_of, 'infinity')
        and coalesce(t.valid_from, '-infinity') <= %(valid_at)s
        and (t.valid_to is null or t.valid_to > %(valid_at)s)
    order by t.fact_no desc, t.lane desc, t.known_from desc, t.event_seq desc
)

select
    s.fact_no,
    max(s.kind) filter (where s.lane = 0) as kind,
    string_to_array(max(array_to_string(s.versions, ',')) filter (where s.lane = 0), ',')::integer[] as versions,
    coalesce(array_agg(s.lane order by s.lane desc) filter (where s.lane > 0 and s.kind = 1), '{}') as eligible,
    coalesce(array_agg(s.lane order by s.lane desc) filter (where s.lane > 0 and s.reason = 3), '{}') as superseded,
    coalesce(array_agg(s.lane order by s.lane desc) filter (where s.lane > 0 and s.reason = 6), '{}') as silent
from shown as s
group by s.fact_no
