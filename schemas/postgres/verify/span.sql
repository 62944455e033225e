-- How many facts a range has, and how far their numbers go.
select
    count(*) as facts,
    coalesce(max(f.fact_no) - {base}, 0) as span
from {schema}.fact as f
where f.fact_no between {first} and {last}
