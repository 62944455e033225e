-- Checks of memories, as said.
with wanted as (
    select s.*
    from act as s
    inner join head as h on s.fact_no = h.fact_no
    where s.kind = 'RelationsChecked' and h.is_sound
),

kept as (
    select o.*
    from {schema}.checked as o
    left join head as h on o.fact_no = h.fact_no
    where o.fact_no between %(first)s and %(last)s and h.is_sound is not false
)

select
    coalesce(n.fact_no, k.fact_no) as fact_no,
    'checked' as relation,
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
        (n.v <> k.version_id, 'version_id', n.v::text, k.version_id::text),
        (n.pairs <> k.pairs, 'pairs', n.pairs::text, k.pairs::text),
        (n.decided <> k.decided, 'decided', n.decided::text, k.decided::text),
        (n.pending <> k.pending, 'pending', n.pending::text, k.pending::text),
        (
            n.fact_no = k.fact_no and n.reason is distinct from k.reason,
            'reason', pg_temp.veiled(n.reason), pg_temp.veiled(k.reason)
        ),
        (n.llm_call_made <> k.llm_call_made, 'llm_call_made', n.llm_call_made::text, k.llm_call_made::text)
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
