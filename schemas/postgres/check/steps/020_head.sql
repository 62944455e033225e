-- Every fact of the chunk, and what lines name a fact that there is not.
insert into head (fact_no, fact_id, tenant_id, events, is_sound, is_plain)
select
    coalesce(f.fact_no, s.fact_no),
    f.fact_id,
    f.tenant_id,
    coalesce(s.events, 0),
    coalesce(f.fact_id is not null and s.is_sound, false),
    p.fact_no is not null
from (
    select
        fact.fact_no,
        fact.fact_id,
        fact.tenant_id
    from {schema}.fact
    where fact.fact_no between %(first)s and %(last)s
) as f
full join (
    select
        said.fact_no,
        count(*) as events,
        bool_and(said.is_hashed and said.is_derived and said.seq = said.place) as is_sound
    from said
    group by said.fact_no
) as s on f.fact_no = s.fact_no
left join plain as p on f.fact_no = p.fact_no
