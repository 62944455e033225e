-- What kind of reckoning each slice takes, and how many instants of it are looked at.
insert into regime
select
    at.slice,
    at.fact_no,
    at.k,
    at.is_last,
    case
        when h.is_heavy then %(heavy_instants_max)s
        when t.slice is not null and n.automatic > 0 and n.versions > 60
            then greatest(4, %(pairs_max)s / (n.versions * n.versions))
        when not at.is_last and n.versions > 100
            then least(%(past_instants_max)s, greatest(8, %(codes_max)s / n.versions))
        when not at.is_last and %(past_instants_max)s < 1000 then %(past_instants_max)s
    end,
    coalesce(n.is_single, false),
    coalesce(n.is_active and not n.is_single, false),
    t.slice is not null,
    x.slice is not null
from slice as at
inner join head as h on at.fact_no = h.fact_no
left join (
    select
        s.slice,
        count(*) as versions,
        count(*) filter (where s.is_automatic) as automatic,
        bool_or(s.is_active) as is_active,
        bool_or(s.is_active and s.is_one) as is_single
    from standing as s
    group by s.slice
) as n on at.slice = n.slice
left join (
    select e.slice from edge_at as e
    union
    select g.slice from grouped as g
    union
    select d.slice from decided as d
    where d.keep is not null
) as t on at.slice = t.slice
left join (select distinct e.slice from excluded as e) as x on at.slice = x.slice
-- covers of so many versions, each over all earlier ones, are more than a check can list
where not (h.is_heavy and t.slice is not null and coalesce(n.is_single and n.automatic > 0, false))
