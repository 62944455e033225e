-- The memories among these that a query finds, best first: by the words that they share with it, by how near they are
-- to it, and by the words for what they tell of, joined by their places in the lists (ADR 37). Exact: every one of them
-- is looked at.
with stem as (
    select distinct regexp_replace(s.lexeme, '([^[:alnum:]])', '\\\1', 'g') as spelled
    from unnest(to_tsvector('english', left(%(query)s, 2000))) as s
    where length(s.lexeme) > 2
),

-- among the slots and types of values that its keys name
kind as (
    select
        '%%' || s.spelled || '%%' as within,
        '\m' || s.spelled || case when length(s.spelled) < 5 then '(?:s|es)?\M' else '' end as pattern
    from stem as s
    limit 16
),

asked as materialized (
    select
        chronofact.asked(%(query)s) as words,
        %(embedding)s::halfvec as embedding,
        array(select k.within from kind as k) as any_within,
        array(select k.pattern from kind as k) as kinds,
        %(version_nos)s::integer[] as version_nos
),

-- a fact's memories in one go through the index; a pattern only where its word is among its kinds
looked as materialized (
    select
        w.fact_no,
        l.version_no,
        l.distance,
        l.weight,
        l.kinds
    from asked as a
    cross join unnest(%(fact_nos)s::bigint[], %(firsts)s::bigint[], %(lasts)s::bigint[]) as w (fact_no, first, last)
    cross join lateral (
        select
            t.version_no,
            case when t.embedder = %(embedder)s::text then t.embedding <=> a.embedding end as distance,
            case when t.search @@ a.words then ts_rank(t.search, a.words) end as weight,
            case
                when t.kinds like any(a.any_within)
                    then (select nullif(count(*), 0) from unnest(a.kinds) as k (pattern) where t.kinds ~ k.pattern)
            end as kinds
        from {schema}.memory as t
        where t.fact_no = w.fact_no and t.version_no = any(a.version_nos[w.first:w.last])
    ) as l
),

near as (
    select
        best.*,
        row_number() over (order by best.distance asc, best.fact_no asc, best.version_no asc) as place
    from (
        select
            l.fact_no,
            l.version_no,
            l.distance
        from looked as l
        where l.distance < 'NaN' -- as of a vector that is all zero
        order by l.distance asc, l.fact_no asc, l.version_no asc
        limit %(ranked_max)s
    ) as best
),

worded as (
    select
        best.*,
        rank() over (order by best.weight desc) as place
    from (
        select
            l.fact_no,
            l.version_no,
            l.distance,
            l.weight
        from looked as l
        where l.weight is not null
        order by l.weight desc, l.fact_no asc, l.version_no asc
        limit %(ranked_max)s
    ) as best
),

kinned as (
    select
        best.*,
        rank() over (order by best.kinds desc) as place
    from (
        select
            l.fact_no,
            l.version_no,
            l.distance,
            l.kinds
        from looked as l
        where l.kinds is not null
        order by l.kinds desc, l.distance asc nulls last, l.fact_no asc, l.version_no asc
        limit %(ranked_max)s
    ) as best
),

found as (
    select
        coalesce(n.fact_no, w.fact_no, k.fact_no) as fact_no,
        coalesce(n.version_no, w.version_no, k.version_no) as version_no,
        coalesce(n.distance, w.distance, k.distance) as distance,
        n.place as place_near,
        w.place as place_worded,
        k.place as place_kind,
        coalesce(
            %(weight_near)s * greatest(0, least(1, (1 - n.distance) / %(near_at)s)) / (%(smoothing)s + n.place), 0
        )
        + coalesce(%(weight_worded)s / (%(smoothing)s + w.place), 0)
        + coalesce(%(weight_kind)s / (%(smoothing)s + k.place), 0) as score
    from near as n
    full join worded as w on n.fact_no = w.fact_no and n.version_no = w.version_no
    full join kinned as k
        on coalesce(n.fact_no, w.fact_no) = k.fact_no and coalesce(n.version_no, w.version_no) = k.version_no
)

select
    f.fact_no,
    f.version_no,
    f.score,
    1 - nullif(f.distance, 'NaN') as cosine,
    f.place_near,
    f.place_worded,
    f.place_kind
from found as f
order by f.score desc, f.distance asc nulls last, f.fact_no asc, f.version_no asc
limit %(limit)s offset %(passed)s
