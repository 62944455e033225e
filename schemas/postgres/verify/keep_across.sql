-- A verification of two projections of different topics, as it ended.
insert into chronofact.verification (
    left_projection,
    right_projection,
    rule_left,
    rule_right,
    aspects,
    state,
    started_at,
    finished_at,
    cut_at,
    topic_id,
    next_offsets,
    right_topic_id,
    right_next_offsets,
    facts,
    facts_total,
    lines,
    differences,
    identical
)
select
    l.name as left_projection,
    r.name as right_projection,
    l.rule as rule_left,
    r.rule as rule_right,
    'across' as aspects,
    'finished' as state,
    %(looked_at)s as started_at,
    clock_timestamp() as finished_at,
    %(looked_at)s as cut_at,
    %(topic_id)s,
    %(next_offsets)s::bigint[] as next_offsets,
    %(right_topic_id)s,
    %(right_next_offsets)s::bigint[] as right_next_offsets,
    %(facts)s,
    %(facts)s as facts_total,
    %(events)s as lines, -- noqa: RF04
    %(differences)s,
    %(differences)s = 0 as identical
from chronofact.projection as l
cross join chronofact.projection as r
where l.name = %(left_projection)s and r.name = %(right_projection)s
returning verification_id
