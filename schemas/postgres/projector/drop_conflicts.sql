-- Pairs whose state changed; those that are still joined are added anew.
delete from {schema}.conflict as c
using unnest(%(fact_nos)s::bigint[], %(lefts)s::uuid[], %(rights)s::uuid[]) as gone (fact_no, left_id, right_id)
where c.fact_no = gone.fact_no and c.left_version_id = gone.left_id and c.right_version_id = gone.right_id
