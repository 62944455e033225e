-- A number for every fact of a range, out of its id, at the place of its number: what its lines are hashed with.
select array_agg(coalesce(uuid_hash_extended(f.fact_id, 0), 0) order by g.place) as keys
from generate_series(1, {span}) as g (place)
left join {schema}.fact as f on f.fact_no = {base} + g.place and f.fact_no between {first} and {last}
