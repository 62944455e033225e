-- The moments of system time that are looked at: everything applied, and after each of some earlier events. Lines are
-- painted event by event, so a slice is one event's and not one recorded_at's.
insert into slice
select
    row_number() over (),
    n.fact_no,
    n.seq,
    n.seq = n.events
from (
    select
        s.fact_no,
        s.seq,
        h.events,
        h.is_heavy,
        row_number() over (
            partition by s.fact_no order by s.seq = h.events desc, hashint8extended(s.seq, s.fact_no + %(seed)s)
        ) as turn
    from said as s
    inner join head as h on s.fact_no = h.fact_no
    where h.is_sound and not h.is_plain
) as n
where n.turn <= 1 + case when n.is_heavy then least(%(past_max)s, %(heavy_past_max)s) else %(past_max)s end
