-- Stated edges, as said.
with wanted as (
    select
        s.fact_no,
        s.event_id,
        0 as ordinal,
        s.seq,
        s.v as new_id,
        s.w as old_id,
        s.effective_at,
        s.word as mode
    from act as s
    inner join head as h on s.fact_no = h.fact_no
    where s.kind = 'FactSuperseded' and h.is_sound
    union all
    select
        s.fact_no,
        s.event_id,
        (e.n - 1)::integer,
        s.seq,
        s.v,
        (e.one ->> 'version_id')::uuid,
        pg_temp.us((e.one ->> 'effective_at')::timestamptz),
        e.one ->> 'mode'
    from said as s
    inner join head as h on s.fact_no = h.fact_no
    cross join lateral json_array_elements(s.supersedes) with ordinality as e (one, n)
    where s.supersedes is not null and h.is_sound
),

kept as (
    select
        o.fact_no,
        o.event_id,
        o.ordinal,
        o.event_seq,
        o.new_version_id,
        o.old_version_id,
        pg_temp.us(o.effective_at) as effective_at,
        o.mode
    from {schema}.edge as o
    left join head as h on o.fact_no = h.fact_no
    where o.fact_no between %(first)s and %(last)s and h.is_sound is not false
)

select
    coalesce(n.fact_no, k.fact_no) as fact_no,
    'edge' as relation,
    w.aspect,
    concat('event ', coalesce(n.event_id, k.event_id), ', edge ', coalesce(n.ordinal, k.ordinal)) as place,
    w.expected,
    w.found
from wanted as n
full join kept as k on n.fact_no = k.fact_no and n.event_id = k.event_id and n.ordinal = k.ordinal
cross join
    lateral (
        values
        (k.fact_no is null, 'missing', n.event_id::text, null),
        (n.fact_no is null, 'extra', null, k.event_id::text),
        (n.seq <> k.event_seq, 'event_seq', n.seq::text, k.event_seq::text),
        (n.new_id <> k.new_version_id, 'new_version_id', n.new_id::text, k.new_version_id::text),
        (n.old_id <> k.old_version_id, 'old_version_id', n.old_id::text, k.old_version_id::text),
        (
            n.fact_no = k.fact_no and n.effective_at is distinct from k.effective_at,
            'effective_at', pg_temp.spelled(n.effective_at), pg_temp.spelled(k.effective_at)
        ),
        (n.fact_no = k.fact_no and n.mode is distinct from k.mode, 'mode', n.mode, k.mode)
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
