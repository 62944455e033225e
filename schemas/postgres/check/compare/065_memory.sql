-- Memories: a line only of a version that is a text, of its first assertion and with its value. What was derived from it
-- stands in the log alone, and is compared there.
with wanted as (
    select
        s.fact_no,
        s.seq,
        case when h.is_plain then 1 else v.no end as no,
        s.value
    from said as s
    inner join head as h on s.fact_no = h.fact_no
    left join ver as v on s.fact_no = v.fact_no and s.seq = v.seq
    where s.kind = 'FactAsserted' and h.is_sound and s.value like '"%%' and (h.is_plain or v.no is not null)
),

kept as (
    select
        o.fact_no,
        o.version_no,
        o.event_seq,
        o.text
    from {schema}.memory as o
    left join head as h on o.fact_no = h.fact_no
    where o.fact_no between %(first)s and %(last)s and h.is_sound is not false
)

select
    k.fact_no,
    'memory' as relation,
    w.aspect,
    concat('version ', k.version_no) as place,
    w.expected,
    w.found
from kept as k
left join wanted as n on k.fact_no = n.fact_no and k.version_no = n.no
cross join
    lateral (
        values
        (n.fact_no is null, 'extra', null, k.version_no::text),
        (n.seq <> k.event_seq, 'event_seq', n.seq::text, k.event_seq::text),
        (n.value::json #>> '{}' <> k.text, 'text', pg_temp.veiled(n.value::json #>> '{}'), pg_temp.veiled(k.text))
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
