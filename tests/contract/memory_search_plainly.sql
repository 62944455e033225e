-- The search as it reads most plainly: each memory looked up by itself, and every pattern held against all of its keys.
-- What the reader asks must find the same.
with stem as (
    select distinct regexp_replace(s.lexeme, '([^[:alnum:]])', '\\\1', 'g') as spelled
    from unnest(to_tsvector('english', left(%(query)s, 2000))) as s
    where length(s.lexeme) > 2
),

-- slots and types of values, as keys have them: slot|who|prefer, state-type|who|programming language
kind as (
    select
        '(?:^slot|-type)\|[^|]*\|.*\m'
        || case when length(s.spelled) < 5 then s.spelled || '(?:s|es)?\M' else s.spelled end as pattern
    from stem as s
    limit 16
),

asked as materialized (
    select
        chronofact.asked(%(query)s) as words,
        array(select '(?n)' || k.pattern from kind as k) as kinds,
        (select '(?n)' || string_agg(k.pattern, '|') from kind as k) as any_kind
),

looked as materialized (
    select
        t.fact_no,
        t.version_no,
        case when t.embedder = %(embedder)s::text then t.embedding <=> %(embedding)s::halfvec end as distance,
        case when t.search @@ a.words then ts_rank(t.search, a.words) end as weight,
        case
            when array_to_string(t.keys, e'\n') ~ a.any_kind
                then (
                    select count(*) from unnest(a.kinds) as k (pattern)
                    where array_to_string(t.keys, e'\n') ~ k.pattern
                )
        end as kinds
    from unnest(%(fact_nos)s::bigint[], %(version_nos)s::bigint[]) as w (fact_no, version_no)
    inner join p1.memory as t on w.fact_no = t.fact_no and w.version_no = t.version_no
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

kinned as (
    select
        l.fact_no,
        l.version_no,
        l.distance,
        rank() over (order by l.kinds desc) as place
    from looked as l
    where l.kinds is not null
    order by l.kinds desc, l.distance asc nulls last, l.fact_no asc, l.version_no asc
    limit %(ranked_max)s
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
