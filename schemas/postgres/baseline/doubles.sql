-- Lines that name a fact that an earlier line has named.
with doubled as (
    delete from theirs as t
    using (
        select
            o.line,
            min(o.line) over (partition by o.fact_id) as first_line
        from theirs as o
    ) as n
    where t.line = n.line and n.line <> n.first_line
    returning t.line, n.first_line
)

select
    d.line,
    d.first_line
from doubled as d
order by d.line
