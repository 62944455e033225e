-- How far projections have come, in one snapshot.
with begun as (
    select
        c.projection,
        (array_agg(c.topic_id order by c.next_offset desc))[1] as topic_id,
        array_agg(c.partition order by c.partition) filter (where c.next_offset > 0) as partitions,
        array_agg(c.next_offset order by c.partition) filter (where c.next_offset > 0) as next_offsets
    from chronofact.checkpoint as c
    group by c.projection
)

select
    p.name,
    p.rule,
    p.state,
    r.projection is not null as does_serve,
    b.topic_id,
    coalesce(b.partitions, array[]::smallint[]) as partitions,
    coalesce(b.next_offsets, array[]::bigint[]) as next_offsets,
    (
        select count(*)
        from pg_inherits as i
        where i.inhparent = to_regclass(format('%%I.event', p.name))
    ) as leaves
from chronofact.projection as p
left join begun as b on p.name = b.projection
left join (select distinct t.projection from chronofact.tenant_route as t) as r on p.name = r.projection -- noqa: ST05
where p.name = any(%(projections)s)
