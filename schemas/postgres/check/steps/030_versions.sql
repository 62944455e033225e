-- The versions that the events assert, numbered in the order of their first assertion.
with taken as (
    select
        s.fact_no,
        s.v,
        min(s.seq) filter (where s.kind = 'FactActivated') as activated_seq,
        min(s.seq) filter (where s.kind = 'FactRevoked') as revoked_seq
    from act as s
    where s.kind in ('FactActivated', 'FactRevoked') and s.v is not null
    group by s.fact_no, s.v
),

asserted as (
    select
        s.fact_no,
        s.v,
        min(s.seq) as seq,
        min(s.seq) filter (where s.word = 'ACTIVE') as active_seq,
        min(s.seq) filter (where s.word = 'ACTIVE' and s.is_one) as one_seq,
        min(s.seq) filter (where s.word <> 'ACTIVE' and s.is_one) as one_wish_seq,
        min(s.seq) filter (where s.word = 'ACTIVE' and s.is_automatic) as auto_seq,
        min(s.seq) filter (where s.word <> 'ACTIVE' and s.is_automatic) as auto_wish_seq,
        min(s.seq) filter (where s.word = 'ACTIVE' and s.is_known) as known_seq,
        min(s.seq) filter (where s.word <> 'ACTIVE' and s.is_known) as known_wish_seq
    from said as s
    inner join head as h on s.fact_no = h.fact_no
    where h.is_sound and not h.is_plain and s.kind = 'FactAsserted'
    group by s.fact_no, s.v
)

insert into ver
select
    n.fact_no,
    row_number() over (partition by n.fact_no order by n.seq),
    n.v,
    n.seq,
    n.active_seq,
    t.activated_seq,
    t.revoked_seq,
    n.one_seq,
    n.one_wish_seq,
    n.auto_seq,
    n.auto_wish_seq,
    n.known_seq,
    n.known_wish_seq,
    n.valid_from,
    n.valid_to,
    n.value_hash,
    n.same_hash,
    ('x' || encode(substr(n.same_hash, 1, 8), 'hex'))::bit(64)::bigint,
    row_number() over (partition by n.fact_no order by n.valid_from asc, n.v desc)
from (
    select
        hashed.*,
        pg_temp.same_hash(hashed.value, hashed.value_hash) as same_hash
    from (
        select
            a.*,
            first.valid_from,
            first.valid_to,
            first.value,
            sha256(convert_to(first.value, 'UTF8')) as value_hash
        from asserted as a
        inner join said as first on a.fact_no = first.fact_no and a.seq = first.seq
        offset 0
    ) as hashed
    offset 0
) as n
left join taken as t on n.fact_no = t.fact_no and n.v = t.v
