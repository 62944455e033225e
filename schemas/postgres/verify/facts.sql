-- Of each fact of a range and each table the same; fact_id is null for lines of a number that no fact has.
select
    f.fact_id,
    o.aspect,
    sum(o.lines)::bigint as lines,
    sum(o.hash) as hash
from (
    select
        each.aspect,
        each.fact_no,
        count(*) as lines,
        sum(each.h) as hash
    from ({rows}) as each
    group by each.fact_no, each.aspect
) as o
left join {schema}.fact as f on o.fact_no = f.fact_no
group by f.fact_id, o.aspect
order by f.fact_id asc nulls last, o.aspect asc
