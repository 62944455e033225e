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
        s.source_hash
    from ver as v
    inner join said as s on v.fact_no = s.fact_no and v.seq = s.seq
),

kept as (
    select
        o.fact_no,
        o.version_no,
        o.version_id,
        o.value_hash,
        sha256(convert_to(o.value_json::text, 'UTF8')) as value_digest,
        coalesce(pg_temp.us(o.valid_from), pg_temp.neg()) as start,
        coalesce(pg_temp.us(o.valid_to), pg_temp.pos()) as stop,
        o.event_seq,
        pg_temp.us(o.recorded_at) as at,
        o.source_id,
        encode(o.source_hash, 'hex') as source_hash
    from {schema}.version as o
    left join head as h on o.fact_no = h.fact_no
    where o.fact_no between %(first)s and %(last)s and h.is_sound is not false
)

select
    coalesce(n.fact_no, k.fact_no) as fact_no,
    'version' as relation,
    w.aspect,
    concat('version ', coalesce(n.no, k.version_no), ' ', coalesce(n.version_id, k.version_id)) as place,
    w.expected,
    w.found
from wanted as n
full join kept as k on n.fact_no = k.fact_no and n.version_id = k.version_id
cross join lateral (
    values
    (k.fact_no is null, 'missing', n.version_id::text, null),
    (n.fact_no is null, 'extra', null, k.version_id::text),
    (n.no <> k.version_no, 'version_no', n.no::text, k.version_no::text),
    (n.value_hash <> k.value_hash, 'value_hash', encode(n.value_hash, 'hex'), encode(k.value_hash, 'hex')),
    (n.value_hash <> k.value_digest, 'value_json', encode(n.value_hash, 'hex'), encode(k.value_digest, 'hex')),
    (n.start <> k.start, 'valid_from', pg_temp.spelled(n.start), pg_temp.spelled(k.start)),
    (n.stop <> k.stop, 'valid_to', pg_temp.spelled(n.stop), pg_temp.spelled(k.stop)),
    (n.at <> k.at, 'recorded_at', pg_temp.spelled(n.at), pg_temp.spelled(k.at)),
    (n.seq <> k.event_seq, 'event_seq', n.seq::text, k.event_seq::text),
    (n.source_id <> k.source_id, 'source_id', pg_temp.veiled(n.source_id), pg_temp.veiled(k.source_id)),
    (n.source_hash <> k.source_hash, 'source_hash', n.source_hash, k.source_hash)
) as w (is_wrong, aspect, expected, found)
where w.is_wrong and (n.fact_no is null or k.fact_no is null or (
    n.no, n.value_hash, n.value_hash, n.start, n.stop, n.at, n.seq, n.source_id, n.source_hash
) is distinct from (
    k.version_no, k.value_hash, k.value_digest, k.start, k.stop, k.at, k.event_seq, k.source_id, k.source_hash
))
