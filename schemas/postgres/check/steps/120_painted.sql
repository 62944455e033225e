-- The timeline's lines, numbered in the order in which they lie over one another.
insert into painted
select
    row_number() over (order by p.fact_no, p.event_seq, p.lane, p.valid_from nulls first),
    p.fact_no,
    p.lane,
    p.event_seq,
    pg_temp.us(p.known_from),
    coalesce(pg_temp.us(p.valid_from), pg_temp.neg()),
    coalesce(pg_temp.us(p.valid_to), pg_temp.pos()),
    p.kind,
    p.reason,
    p.answer_key,
    p.versions,
    p.winner,
    cardinality(p.versions),
    case
        when cardinality(p.versions) = 1 then hashint8extended(p.versions[1], 0)
        when p.versions is not null then (
            select coalesce(bit_xor(hashint8extended(one.no, 0)), 0) from unnest(p.versions) as one (no)
        )
    end,
    w.rank
from {schema}.timeline as p
left join head as h on p.fact_no = h.fact_no
left join ver as w on p.fact_no = w.fact_no and p.winner = w.no
where p.fact_no between %(first)s and %(last)s and h.is_plain is not true
