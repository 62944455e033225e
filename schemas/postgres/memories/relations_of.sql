-- Per pair the declaration that counts (semantics §3): of some memories of a fact, or of all.
with said as (
    select one.*
    from {schema}.relation as one
    where one.fact_no = %(fact_no)s and %(version_ids)s::uuid[] is null
    union all
    select on_left.*
    from {schema}.relation as on_left
    where on_left.fact_no = %(fact_no)s and on_left.left_version_id = any(%(version_ids)s::uuid[])
    union all
    select on_right.*
    from {schema}.relation as on_right
    where on_right.fact_no = %(fact_no)s and on_right.right_version_id = any(%(version_ids)s::uuid[])
)

select distinct on (r.left_version_id, r.right_version_id)
    r.left_version_id,
    r.right_version_id,
    r.relation,
    r.newer_version_id,
    r.decided_at,
    r.decided_by,
    r.reason,
    r.llm_call_made,
    r.model,
    r.event_id,
    r.event_seq
from said as r
where
    r.left_version_id <> r.right_version_id
    and (r.relation <> 'supersedes' or r.newer_version_id in (r.left_version_id, r.right_version_id))
order by
    r.left_version_id asc,
    r.right_version_id asc,
    r.decided_by = 'person' desc,
    r.decided_at desc,
    r.event_id desc
