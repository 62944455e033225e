-- How far the log went at least, by all that anybody has noted of this topic.
select
    e.partition,
    max(e.next_offset) as next_offset
from (
    select
        c.partition,
        c.next_offset
    from chronofact.checkpoint as c
    where c.topic_id = %(topic_id)s
    union all
    select
        (t.place - 1)::smallint,
        t.next_offset
    from chronofact.rebuild as r, unnest(r.targets) with ordinality as t (next_offset, place)
    where r.topic_id = %(topic_id)s
    union all
    select
        (t.place - 1)::smallint,
        t.next_offset
    from chronofact.reconciliation_run as r, unnest(r.next_offsets) with ordinality as t (next_offset, place)
    where r.topic_id = %(topic_id)s
    union all
    select
        (t.place - 1)::smallint,
        t.next_offset
    from chronofact.verification as v, unnest(v.next_offsets) with ordinality as t (next_offset, place)
    where v.topic_id = %(topic_id)s
) as e
where e.next_offset is not null
group by e.partition
