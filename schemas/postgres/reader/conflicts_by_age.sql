-- One page of a tenant's conflict edges, oldest first, by their age: for lists that few facts would not bound.
select
    c.fact_no,
    c.left_version_id,
    c.right_version_id
from {schema}.conflict as c
inner join {schema}.fact as f on c.fact_no = f.fact_no
where
    f.tenant_id = %(tenant_id)s
    and (%(relation)s::text is null or c.relation = %(relation)s)
    and (%(version_id)s::uuid is null or %(version_id)s in (c.left_version_id, c.right_version_id))
    and c.recorded_at >= %(after_at)s
    and (c.recorded_at, f.fact_id, c.left_version_id, c.right_version_id)
    > (%(after_at)s, %(after_fact)s, %(after_left)s, %(after_right)s)
    and (%(next_offsets)s::bigint[] is null or {schema}.lies_below(c.fact_no, c.event_seq, %(next_offsets)s))
    {filters}
order by c.recorded_at, f.fact_id, c.left_version_id, c.right_version_id
limit %(limit)s
