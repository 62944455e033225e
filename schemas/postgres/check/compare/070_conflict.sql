-- Conflict edges, of rivals the first thousand.
with judged as (
    select
        r.fact_no,
        h.events
    from regime as r
    inner join head as h on r.fact_no = h.fact_no
    where r.is_last and r.instants_max is null and h.versions <= %(rivals_max)s
),

wanted as (
    select p.*
    from (
        select
            o.*,
            row_number() over (partition by o.fact_no, o.is_rival order by o.left_id, o.right_id) as turn
        from pair as o
    ) as p
    where not p.is_rival or p.turn <= 1000
),

kept as (
    select
        o.fact_no,
        o.left_version_id,
        o.right_version_id,
        o.relation,
        o.event_seq,
        pg_temp.us(o.recorded_at) as at,
        s.at as said_at,
        j.events,
        h.fact_id
    from {schema}.conflict as o
    left join head as h on o.fact_no = h.fact_no
    left join judged as j on o.fact_no = j.fact_no
    left join said as s on o.fact_no = s.fact_no and o.event_seq = s.seq
    where o.fact_no between %(first)s and %(last)s and (j.fact_no is not null or h.fact_id is null)
)

select
    coalesce(n.fact_no, k.fact_no) as fact_no,
    'conflict' as relation,
    w.aspect,
    concat('pair ', coalesce(n.left_id, k.left_version_id), ' ', coalesce(n.right_id, k.right_version_id)) as place,
    w.expected,
    w.found
from wanted as n
full join kept as k on n.fact_no = k.fact_no and n.left_id = k.left_version_id and n.right_id = k.right_version_id
cross join
    lateral (
        values
        (k.fact_no is null, 'missing', n.relation, null),
        (n.fact_no is null, 'extra', null, k.relation),
        (n.relation <> k.relation, 'relation', n.relation, k.relation),
        (k.fact_no is not null and k.said_at is null, 'event_seq', 'an event of the fact', k.event_seq::text),
        (k.at <> k.said_at, 'recorded_at', pg_temp.spelled(k.said_at), pg_temp.spelled(k.at))
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
