-- Relations of text memories, as said.
with wanted as (
    select
        s.*,
        least(s.v, s.w) as left_id,
        greatest(s.v, s.w) as right_id
    from act as s
    inner join head as h on s.fact_no = h.fact_no
    where s.kind = 'RelationDeclared' and h.is_sound
),

kept as (
    select
        o.*,
        pg_temp.us(o.decided_at) as at
    from {schema}.relation as o
    left join head as h on o.fact_no = h.fact_no
    where o.fact_no between %(first)s and %(last)s and h.is_sound is not false
)

select
    coalesce(n.fact_no, k.fact_no) as fact_no,
    'relation' as relation,
    w.aspect,
    concat('event ', coalesce(n.event_id, k.event_id)) as place,
    w.expected,
    w.found
from wanted as n
full join kept as k on n.fact_no = k.fact_no and n.event_id = k.event_id
cross join
    lateral (
        values
        (k.fact_no is null, 'missing', n.event_id::text, null),
        (n.fact_no is null, 'extra', null, k.event_id::text),
        (n.seq <> k.event_seq, 'event_seq', n.seq::text, k.event_seq::text),
        (n.left_id <> k.left_version_id, 'left_version_id', n.left_id::text, k.left_version_id::text),
        (n.right_id <> k.right_version_id, 'right_version_id', n.right_id::text, k.right_version_id::text),
        (n.word <> k.relation, 'relation', n.word, k.relation),
        (
            n.fact_no = k.fact_no and n.keep is distinct from k.newer_version_id,
            'newer_version_id', n.keep::text, k.newer_version_id::text
        ),
        (n.llm_call_made <> k.llm_call_made, 'llm_call_made', n.llm_call_made::text, k.llm_call_made::text),
        (
            n.fact_no = k.fact_no and n.model is distinct from k.model,
            'model', pg_temp.veiled(n.model), pg_temp.veiled(k.model)
        ),
        (n.decided_at <> k.at, 'decided_at', pg_temp.spelled(n.decided_at), pg_temp.spelled(k.at)),
        (
            n.fact_no = k.fact_no and n.decided_by is distinct from k.decided_by,
            'decided_by', pg_temp.veiled(n.decided_by), pg_temp.veiled(k.decided_by)
        ),
        (
            n.fact_no = k.fact_no and n.reason is distinct from k.reason,
            'reason', pg_temp.veiled(n.reason), pg_temp.veiled(k.reason)
        )
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
