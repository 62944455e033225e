-- Endings, as said.
with wanted as (
    select s.*
    from act as s
    inner join head as h on s.fact_no = h.fact_no
    where s.kind = 'FactEnded' and h.is_sound
),

kept as (
    select
        o.fact_no,
        o.event_id,
        o.event_seq,
        o.version_id,
        pg_temp.us(o.effective_at) as effective_at
    from {schema}.ending as o
    left join head as h on o.fact_no = h.fact_no
    where o.fact_no between %(first)s and %(last)s and h.is_sound is not false
)

select
    coalesce(n.fact_no, k.fact_no) as fact_no,
    'ending' as relation,
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
        (
            n.effective_at <> k.effective_at,
            'effective_at', pg_temp.spelled(n.effective_at), pg_temp.spelled(k.effective_at)
        )
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
