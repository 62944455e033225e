-- The memories among these that a query finds, best first: by the words that they share with it and by how near they
-- are to it, joined by their places in both lists (ADR 37). Exact: every one of them is looked at.
with asked as materialized (
    select chronofact.asked(%(query)s) as words
),

looked as materialized (
    select
        t.fact_no,
        t.version_no,
        case when t.embedder = %(embedder)s::text then t.embedding <=> %(embedding)s::halfvec end as distance,
        case when t.search @@ a.words then ts_rank(t.search, a.words) end as weight
    from unnest(%(fact_nos)s::bigint[], %(version_nos)s::bigint[]) as w (fact_no, version_no)
    inner join {schema}.memory as t on w.fact_no = t.fact_no and w.version_no = t.version_no
    cross join asked as a
),

near as (
    select
        l.fact_no,
        l.version_no,
        l.distance,
        row_number() over (order by l.distance asc, l.fact_no asc, l.version_no asc) as place
    from looked as l
    where l.distance < 'NaN' -- as of a vector that is all zero
    order by l.distance asc, l.fact_no asc, l.version_no asc
    limit %(ranked_max)s
),

worded as (
    select
        l.fact_no,
        l.version_no,
        l.distance,
        rank() over (order by l.weight desc) as place
    from looked as l
    where l.weight is not null
    order by l.weight desc, l.fact_no asc, l.version_no asc
    limit %(ranked_max)s
),

found as (
    select
        coalesce(n.fact_no, w.fact_no) as fact_no,
        coalesce(n.version_no, w.version_no) as version_no,
        coalesce(n.distance, w.distance) as distance,
        n.place as place_near,
        w.place as place_worded,
        coalesce(
            %(weight_near)s * greatest(0, least(1, (1 - n.distance) / %(near_at)s)) / (%(smoothing)s + n.place), 0
        )
        + coalesce(%(weight_worded)s / (%(smoothing)s + w.place), 0) as score
    from near as n
    full join worded as w on n.fact_no = w.fact_no and n.version_no = w.version_no
)

select
    f.fact_no,
    f.version_no,
    f.score,
    1 - nullif(f.distance, 'NaN') as cosine,
    f.place_near,
    f.place_worded
from found as f
order by f.score desc, f.distance asc nulls last, f.fact_no asc, f.version_no asc
limit %(limit)s offset %(passed)s
