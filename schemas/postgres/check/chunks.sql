-- Where to cut the facts into chunks of about so many events: first fact number and number of facts of each.
select
    min(n.fact_no) as first_fact_no,
    count(*) as facts
from (
    select
        f.fact_no,
        (sum(f.event_seq) over (order by f.fact_no))::bigint / %s as chunk
    from {schema}.fact as f
) as n
group by n.chunk
order by first_fact_no
