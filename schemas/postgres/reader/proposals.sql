-- Versions that wait for their activation and are not over at the instant, of some facts, and how many there are.
with asked as materialized (
    select
        one.at,
        one.fact_no,
        one.system_as_of
    from unnest(%(ats)s, %(fact_nos)s, %(system_as_ofs)s) as one (at, fact_no, system_as_of)
    where
        one.system_as_of is not null
        or exists (select from {schema}.version as v where v.fact_no = one.fact_no and v.lifecycle = 'PROPOSED')
),

waiting as (
    select
        q.at,
        v.version_id,
        v.value_json,
        v.value_hash,
        v.valid_from,
        {schema}.held_until(v.fact_no, v.version_id, v.valid_to, q.system_as_of) as valid_to,
        v.source_id,
        v.recorded_at
    from asked as q
    cross join lateral {schema}.proposals_at(q.fact_no, q.system_as_of) as p (version_no)
    inner join {schema}.version as v on q.fact_no = v.fact_no and p.version_no = v.version_no
)

select
    w.at,
    w.version_id,
    w.value_json,
    w.value_hash,
    w.valid_from,
    w.valid_to,
    w.source_id,
    w.recorded_at,
    count(*) over () as proposals
from waiting as w
where w.valid_to is null or w.valid_to > %(valid_at)s
order by w.at, w.recorded_at, w.version_id
limit %(limit)s
