-- Each line of the timeline by itself: painted by an event, known since it, on a lane that there is, beside no other.
with keyed as (
    select
        p.line,
        sha256(string_agg(distinct v.same_hash, ''::bytea order by v.same_hash)) as digest
    from painted as p
    cross join lateral unnest(p.versions) as n (no)
    inner join ver as v on p.fact_no = v.fact_no and n.no = v.no
    where p.kind = 2 and p.count > 0
    group by p.line
),

next_to as (
    select
        p.*,
        case
            when
                lead(p.fact_no) over of_lines = p.fact_no and lead(p.seq) over of_lines = p.seq
                and lead(p.lane) over of_lines = p.lane then lead(p.valid_from) over of_lines
        end as next_from
    from painted as p
    window of_lines as (order by p.line) -- numbered by fact, event, lane and start
),

beside as (
    select
        p.*,
        h.fact_id,
        h.versions as versions_there,
        h.is_sound,
        s.seq as said_seq,
        s.at as said_at,
        coalesce(k.digest, v.same_hash) as digest
    from next_to as p
    left join head as h on p.fact_no = h.fact_no
    left join said as s on p.fact_no = s.fact_no and p.seq = s.seq
    left join keyed as k on p.line = k.line
    left join ver as v on p.fact_no = v.fact_no and p.winner = v.no
    where
        h.fact_id is null
        or p.known_from is distinct from s.at
        or p.lane not between 0 and coalesce(h.versions, 0)
        or p.valid_to > p.next_from
        or (
            p.lane = 0 and p.count > 0
            and uuid_send(p.answer_key) is distinct from substr(coalesce(k.digest, v.same_hash), 1, 16)
        )
        or (p.answer_key is not null and (p.lane > 0 or p.kind in (0, 3) or (p.kind = 2 and p.count is null)))
)

select
    p.fact_no,
    'timeline' as relation,
    w.aspect,
    concat('lane ', p.lane, ' from ', pg_temp.spelled(p.valid_from), ', painted by event ', p.seq) as place,
    w.expected,
    w.found
from beside as p
cross join
    lateral (
        values
        (p.fact_id is null, 'fact_no', 'the number of a fact', null),
        (p.is_sound and p.said_seq is null, 'event_seq', 'an event of the fact', p.seq::text),
        (p.known_from <> p.said_at, 'known_from', pg_temp.spelled(p.said_at), pg_temp.spelled(p.known_from)),
        (
            p.is_sound and p.lane not between 0 and coalesce(p.versions_there, 0),
            'lane', concat('0 to ', p.versions_there), p.lane::text
        ),
        (
            p.valid_to > p.next_from,
            'valid_to', 'no further than ' || pg_temp.spelled(p.next_from), pg_temp.spelled(p.valid_to)
        ),
        (
            p.is_sound and p.lane = 0 and p.count > 0
            and uuid_send(p.answer_key) is distinct from substr(p.digest, 1, 16),
            'answer_key', encode(substr(p.digest, 1, 16), 'hex'), p.answer_key::text
        ),
        (
            p.answer_key is not null and (p.lane > 0 or p.kind in (0, 3) or (p.kind = 2 and p.count is null)),
            'answer_key', null, p.answer_key::text
        )
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
