-- Memories of the fact that came before and are not revoked: all that are found by a key, and of those that are near
-- the nearest, among all and among those that neither gave way nor were merged; how names each way one was found.
-- Exact: every memory of the fact is looked at.
with looked as materialized (
    select
        t.version_no,
        t.embedding <=> %(embedding)s::halfvec as distance, -- not a number of a vector that is all zero: never near
        t.keys && %(keys)s::text[] as is_keyed
    from {schema}.memory as t
    where t.fact_no = %(fact_no)s and t.event_seq < %(before_seq)s
),

standing as materialized (
    select
        one.version_no,
        case when one.distance < 'NaN' then one.distance end as distance,
        one.is_keyed,
        coalesce(one.distance <= 1 - %(near)s::double precision, false) as is_near,
        v.version_id,
        v.event_seq,
        v.valid_from,
        v.valid_to,
        case when l.fact_no is null then v.lifecycle else l.lifecycle end as lifecycle,
        case when l.fact_no is null then v.merged_into_id else l.merged_into_id end as merged_into_id
    from looked as one
    inner join {schema}.version as v on v.fact_no = %(fact_no)s and one.version_no = v.version_no
    left join lateral (
        select
            newest.fact_no,
            newest.lifecycle,
            newest.merged_into_id
        from {schema}.version_label as newest
        where newest.fact_no = %(fact_no)s and newest.version_no = one.version_no
        order by newest.event_seq desc
        limit 1
    ) as l on true
    where
        (one.is_keyed or one.distance <= 1 - %(near)s::double precision)
        and case when l.fact_no is null then v.lifecycle else l.lifecycle end <> 'REVOKED'
),

placed as (
    select
        s.*,
        row_number() over (order by s.is_near desc, s.distance asc, s.version_no asc) as place,
        row_number() over (
            partition by s.lifecycle = 'ACTIVE' and s.merged_into_id is null
            order by s.is_near desc, s.distance asc, s.version_no asc
        ) as place_of_kind
    from standing as s
),

-- few, so that nobody looks for the ends of the others
ended as materialized (
    select distinct e.version_id
    from {schema}.ending as e
    where e.fact_no = %(fact_no)s
)

select
    p.version_id,
    p.event_seq,
    t.text,
    p.valid_from,
    case
        when d.version_id is null then p.valid_to
        else {schema}.held_until(%(fact_no)s, p.version_id, p.valid_to, null)
    end as valid_to,
    t.frames,
    1 - p.distance as cosine,
    array_remove(array[
        case when p.is_keyed then 'keys' end,
        case when p.is_near and p.place <= %(nearest)s then 'cosine' end,
        case
            when
                p.is_near and p.place_of_kind <= %(nearest)s and p.lifecycle = 'ACTIVE' and p.merged_into_id is null
                then 'cosine_of_standing'
        end
    ], null) as how,
    p.lifecycle,
    p.merged_into_id
from placed as p
cross join
    lateral (
        select
            m.text,
            m.frames
        from {schema}.memory as m
        where m.fact_no = %(fact_no)s and m.version_no = p.version_no
        offset 0 -- one by one: they are few
    ) as t
left join ended as d on p.version_id = d.version_id
where
    p.is_keyed
    or (
        p.is_near
        and (
            p.place <= %(nearest)s
            or (p.place_of_kind <= %(nearest)s and p.lifecycle = 'ACTIVE' and p.merged_into_id is null)
        )
    )
order by p.event_seq
