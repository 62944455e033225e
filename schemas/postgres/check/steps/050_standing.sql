-- How each version stands in each slice (semantics §3, Standing).
with taken as (
    select
        s.fact_no,
        s.named,
        min(s.seq) as seq
    from act as s
    where s.kind = 'FactRevoked' and s.named is not null
    group by s.fact_no, s.named
),

ended as (
    select
        at.slice,
        s.v,
        min(s.effective_at) as effective_at
    from act as s
    inner join slice as at on s.fact_no = at.fact_no and s.seq <= at.k
    left join taken as t on s.fact_no = t.fact_no and s.event_id = t.named
    where s.kind = 'FactEnded' and (t.seq is null or t.seq > at.k)
    group by at.slice, s.v
),

known as (
    select
        at.slice,
        at.k,
        v.*,
        v.active_seq <= at.k or v.activated_seq <= at.k as is_ever,
        coalesce(v.activated_seq <= at.k, false) as is_activated,
        coalesce(v.revoked_seq <= at.k, false) as is_revoked,
        least(v.stop, e.effective_at) as ends
    from slice as at
    inner join ver as v on at.fact_no = v.fact_no and at.k >= v.seq
    left join ended as e on at.slice = e.slice and v.version_id = e.v
    offset 0
)

insert into standing
select
    n.slice,
    n.fact_no,
    n.k,
    n.no,
    n.start,
    n.stop,
    n.ends,
    coalesce(n.is_ever, false),
    coalesce(n.is_ever, false) and not n.is_revoked,
    n.is_revoked,
    coalesce(n.one_seq <= n.k, false) or (n.is_activated and coalesce(n.one_wish_seq <= n.k, false)),
    coalesce(n.auto_seq <= n.k, false) or (n.is_activated and coalesce(n.auto_wish_seq <= n.k, false)),
    coalesce(n.known_seq <= n.k, false) or (n.is_activated and coalesce(n.known_wish_seq <= n.k, false)),
    coalesce(n.is_ever, false) and not n.is_revoked and n.start < n.ends,
    n.start,
    case n.stop when pg_temp.pos() then n.stop else n.ends end,
    n.value_key,
    n.rank
from known as n
