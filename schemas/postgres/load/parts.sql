-- One part a partition; fact numbers begin where the partition's own begin.
insert into chronofact.rebuild_part (rebuild_id, partition, target, fact_no_last, state)
select
    %(rebuild_id)s::bigint as rebuild_id,
    (t.ordinality - 1)::smallint as partition,
    t.target,
    (t.ordinality - 1) << 40 as fact_no_last,
    case t.target when 0 then 'loaded' else 'waiting' end as state
from unnest(%(targets)s::bigint[]) with ordinality as t (target, ordinality)
on conflict on constraint rebuild_part_pkey do nothing
