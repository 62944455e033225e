-- Versions as they were first asserted.
with wanted as (
    select
        v.fact_no,
        v.no,
        v.version_id,
        v.value_hash,
        v.start,
        v.stop,
        v.seq,
        s.at,
        s.source_id,
        s.source_hash,
        s.value
    from ver as v
    inner join said as s on v.fact_no = s.fact_no and v.seq = s.seq
),

kept as (
    select
        o.fact_no,
        o.version_no,
        o.version_id,
        o.value_hash,
        o.value_json::text as value,
        coalesce(pg_temp.us(o.valid_from), pg_temp.neg()) as start,
        coalesce(pg_temp.us(o.valid_to), pg_temp.pos()) as stop,
        o.event_seq,
        pg_temp.us(o.recorded_at) as at,
        o.source_id,
        encode(o.source_hash, 'hex') as source_hash
    from {schema}.version as o
    left join head as h on o.fact_no = h.fact_no
    where o.fact_no between %(first)s and %(last)s and h.is_sound is not false and h.is_plain is not true
),

beside as (
    select
        n as n,
        k as k
    from wanted as n
    full join kept as k on n.fact_no = k.fact_no and n.version_id = k.version_id
    where
        n.fact_no is null
        or k.fact_no is null
        or n.no <> k.version_no
        or n.value_hash <> k.value_hash
        or n.value <> k.value
        or n.start <> k.start
        or n.stop <> k.stop
        or n.at <> k.at
        or n.seq <> k.event_seq
        or n.source_id <> k.source_id
        or n.source_hash <> k.source_hash
)

select
    coalesce((b.n).fact_no, (b.k).fact_no) as fact_no,
    'version' as relation,
    w.aspect,
    concat('version ', coalesce((b.n).no, (b.k).version_no), ' ', coalesce((b.n).version_id, (b.k).version_id)) as place,
    w.expected,
    w.found
from beside as b
cross join
    lateral (
        values
        ((b.k).fact_no is null, 'missing', (b.n).version_id::text, null),
        ((b.n).fact_no is null, 'extra', null, (b.k).version_id::text),
        ((b.n).no <> (b.k).version_no, 'version_no', (b.n).no::text, (b.k).version_no::text),
        ((b.n).value_hash <> (b.k).value_hash, 'value_hash', encode((b.n).value_hash, 'hex'), encode((b.k).value_hash, 'hex')),
        ((b.n).value <> (b.k).value, 'value_json', pg_temp.veiled((b.n).value), pg_temp.veiled((b.k).value)),
        ((b.n).start <> (b.k).start, 'valid_from', pg_temp.spelled((b.n).start), pg_temp.spelled((b.k).start)),
        ((b.n).stop <> (b.k).stop, 'valid_to', pg_temp.spelled((b.n).stop), pg_temp.spelled((b.k).stop)),
        ((b.n).at <> (b.k).at, 'recorded_at', pg_temp.spelled((b.n).at), pg_temp.spelled((b.k).at)),
        ((b.n).seq <> (b.k).event_seq, 'event_seq', (b.n).seq::text, (b.k).event_seq::text),
        ((b.n).source_id <> (b.k).source_id, 'source_id', pg_temp.veiled((b.n).source_id), pg_temp.veiled((b.k).source_id)),
        ((b.n).source_hash <> (b.k).source_hash, 'source_hash', (b.n).source_hash, (b.k).source_hash)
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
