-- How many facts there are, by who answers them.
select
    count(*) filter (where b.line is not null and b.kind > 0) as answered_by_both,
    count(*) filter (where b.is_equal) as alike,
    count(*) filter (where b.line is not null and b.kind = 0) as only_theirs,
    count(*) filter (where b.line is null) as only_ours,
    count(distinct b.tenant_id) as tenants,
    (
        select count(distinct f.tenant_id) from {schema}.fact as f
        where f.tenant_id not in (select t.tenant_id from theirs as t)
    ) as tenants_not_named
from beside as b
