-- A subject's facts that hold text memories, and of each which versions hold at the instant as known then, which gave
-- way, which were merged, which are under review, and of which a pair is undecided. By the timeline, as all answers.
with fact as materialized (
    select
        one.fact_no,
        one.fact_id,
        one.scope_kind,
        one.scope_key,
        one.fact_key,
        one.subject_label,
        case
            when %(next_offsets)s::bigint[] is null then %(system_as_of)s::timestamptz
            else {schema}.known_by(one.fact_no, %(next_offsets)s, %(system_as_of)s)
        end as as_of
    from {schema}.fact as one
    where
        one.tenant_id = %(tenant_id)s
        and one.subject_id = %(subject_id)s
        and starts_with(one.fact_key, 'memory/')
        and (%(next_offsets)s::bigint[] is null or {schema}.lies_below(one.fact_no, 1, %(next_offsets)s))
        {filters}
),

whole as materialized (
    select
        f.*,
        a.kind,
        a.versions
    from fact as f
    left join lateral {schema}.top_at(f.fact_no, 0, %(valid_at)s, f.as_of) as a on true
),

shown as materialized (
    select
        w.fact_no,
        l.lane,
        l.kind,
        l.reason,
        w.kind is null or w.kind = 3 or (w.kind > 0 and w.versions is null) as is_by_lane
    from whole as w
    cross join lateral (
        select distinct on (t.lane)
            t.lane,
            t.kind,
            t.reason
        from {schema}.timeline as t
        where
            t.fact_no = w.fact_no
            and t.lane > 0
            and t.known_from <= coalesce(w.as_of, 'infinity')
            and coalesce(t.valid_from, '-infinity') <= %(valid_at)s
            and (t.valid_to is null or t.valid_to > %(valid_at)s)
        order by t.lane desc, t.known_from desc, t.event_seq desc
    ) as l
),

-- Reason 0 is none: it holds.
lane as materialized (
    select
        s.fact_no,
        s.lane as version_no,
        case when s.kind = 0 then s.reason when s.is_by_lane then 0 end as reason
    from shown as s
    union all
    select
        w.fact_no,
        n.version_no,
        0 as reason
    from whole as w
    cross join lateral unnest(w.versions) as n (version_no)
    where w.kind in (1, 2)
),

-- Merged is what says nothing of itself though it was admitted.
standing as (
    select
        l.fact_no,
        array_agg(l.version_no order by l.version_no desc) filter (where l.reason = 0) as eligible,
        array_agg(l.version_no order by l.version_no desc) filter (where l.reason = 3) as superseded,
        array_agg(l.version_no order by l.version_no desc) filter (
            where l.reason = 6
            and l.version_no not in (
                select p.version_no
                from fact as f
                cross join lateral {schema}.proposals_at(f.fact_no, f.as_of) as p (version_no)
                where f.fact_no = l.fact_no
            )
        ) as merged
    from lane as l
    where l.reason in (0, 3, 6)
    group by l.fact_no
),

review as (
    select
        f.fact_no,
        array_agg(distinct v.version_no) as version_nos
    from fact as f
    cross join lateral {schema}.contradictions_at(f.fact_no, f.as_of) as c
    inner join {schema}.version as v on f.fact_no = v.fact_no and c.pending_version_id = v.version_id
    where exists (select from {schema}.relation as r where r.fact_no = f.fact_no)
    group by f.fact_no
),

undecided as (
    select
        f.fact_no,
        array_agg(distinct v.version_no) as version_nos
    from fact as f
    cross join lateral {schema}.undecided_at(f.fact_no, f.as_of) as u
    inner join {schema}.version as v on f.fact_no = v.fact_no and u.version_id = v.version_id
    group by f.fact_no
)

select
    f.fact_no,
    f.fact_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.subject_label,
    f.as_of,
    coalesce(s.eligible, '{}') as eligible,
    coalesce(s.superseded, '{}') as superseded,
    coalesce(s.merged, '{}') as merged,
    coalesce(r.version_nos, '{}') as under_review,
    coalesce(u.version_nos, '{}') as undecided
from fact as f
inner join standing as s on f.fact_no = s.fact_no
left join review as r on f.fact_no = r.fact_no
left join undecided as u on f.fact_no = u.fact_no
order by f.scope_kind, f.scope_key, f.fact_key
