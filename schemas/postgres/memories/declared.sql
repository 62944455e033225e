-- Per pair of some memories the declaration that counts (semantics §3). place is that of the memory in the arrays, so
-- that a pair of which both are asked for comes twice.
with said as (
    select
        asked.place,
        on_left.*
    from unnest(%(fact_nos)s::bigint[], %(version_ids)s::uuid[]) with ordinality as asked (fact_no, version_id, place)
    inner join {schema}.relation as on_left
        on asked.version_id = on_left.left_version_id and asked.fact_no = on_left.fact_no
    union all
    select
        asked.place,
        on_right.*
    from unnest(%(fact_nos)s::bigint[], %(version_ids)s::uuid[]) with ordinality as asked (fact_no, version_id, place)
    inner join {schema}.relation as on_right
        on asked.version_id = on_right.right_version_id and asked.fact_no = on_right.fact_no
)

select distinct on (r.place, r.left_version_id, r.right_version_id)
    r.place,
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
    r.place asc,
    r.left_version_id asc,
    r.right_version_id asc,
    r.decided_by = 'person' desc,
    r.decided_at desc,
    r.event_id desc
