-- One page of the conflict edges of some facts, oldest first: the facts are found first, and bound the work.
with mine as materialized (
    select
        f.fact_no,
        f.fact_id
    from {schema}.fact as f
    where
        f.tenant_id = %(tenant_id)s
        {filters}
)

select
    c.fact_no,
    c.left_version_id,
    c.right_version_id
from mine as m
inner join {schema}.conflict as c on m.fact_no = c.fact_no
where
    (%(relation)s::text is null or c.relation = %(relation)s)
    and (%(version_id)s::uuid is null or %(version_id)s in (c.left_version_id, c.right_version_id))
    and (c.recorded_at, m.fact_id, c.left_version_id, c.right_version_id)
    > (%(after_at)s, %(after_fact)s, %(after_left)s, %(after_right)s)
    and (%(next_offsets)s::bigint[] is null or {schema}.lies_below(c.fact_no, c.event_seq, %(next_offsets)s))
order by c.recorded_at, m.fact_id, c.left_version_id, c.right_version_id
limit %(limit)s
