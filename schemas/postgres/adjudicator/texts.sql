-- How memories begin, for a person who looks at what waits. place is that in the arrays.
select
    asked.place,
    left(t.text, 200) as text
from unnest(%(fact_ids)s::uuid[], %(version_ids)s::uuid[]) with ordinality as asked (fact_id, version_id, place)
inner join {schema}.fact as f on asked.fact_id = f.fact_id
inner join {schema}.version as v on f.fact_no = v.fact_no and asked.version_id = v.version_id
inner join {schema}.memory as t on v.fact_no = t.fact_no and v.version_no = t.version_no
