-- The answer at each instant (semantics §4).
insert into answer
select
    c.cell,
    c.slice,
    c.fact_no,
    c.k,
    c.t,
    c.is_last,
    case
        when coalesce(n.versions, 0) = 0 then 0
        when c.is_many then 3
        when n.low = n.high then 1
        else 2
    end,
    case when coalesce(n.versions, 0) = 0 then coalesce(n.reason, 7) end,
    coalesce(n.versions, 0),
    coalesce(n.set_hash, 0),
    n.rank,
    n.low,
    c.is_many
from cell as c
left join (
    select
        o.cell,
        count(*) filter (where o.code = 0) as versions,
        min(o.code) as reason,
        bit_xor(hashint8extended(o.no, 0)) filter (where o.code = 0) as set_hash,
        max(o.rank) filter (where o.code = 0) as rank,
        min(o.value_key) filter (where o.code = 0) as low,
        max(o.value_key) filter (where o.code = 0) as high
    from code as o
    group by o.cell
) as n on c.cell = n.cell
