-- What is known of a projection that reads are to go to, beside the one that they go to now.
with reached as (
    select
        c.projection,
        (array_agg(c.topic_id order by c.next_offset desc))[1] as topic_id -- of others nothing was applied
    from chronofact.checkpoint as c
    where c.projection in (%(to_projection)s, %(from_projection)s)
    group by c.projection
),

topic as (
    select
        (select n.topic_id from reached as n where n.projection = %(to_projection)s) as of_new,
        (select o.topic_id from reached as o where o.projection = %(from_projection)s) as of_old
),

rebuilt as (
    select
        b.rebuild_id,
        b.started_at,
        case when b.state = 'ready' then b.finished_at end as proven_at,
        nullif(b.compared_with, 'none') as compared_with
    from chronofact.rebuild as b
    where b.projection = %(to_projection)s
    order by b.rebuild_id desc
    limit 1
),

-- what was said of an earlier one of this name says nothing of it; that it differs, nothing once it was proven
verified as (
    select
        v.verification_id,
        v.identical,
        case
            when v.left_projection = %(to_projection)s then v.right_projection else v.left_projection
        end as beside
    from chronofact.verification as v
    where
        %(to_projection)s in (v.left_projection, v.right_projection)
        and v.state = 'finished'
        -- without the answers, of one rule, it can tell that two differ, and not that they are alike; without the
        -- lines, only where there is nothing better
        and (
            v.aspects = 'all'
            or (v.aspects = 'across' and (v.topic_id = v.right_topic_id) is not true)
            or v.rule_left <> v.rule_right
            or not v.identical
        )
        and v.started_at >= coalesce((select r.started_at from rebuilt as r), '-infinity')
        and (v.identical or v.started_at >= coalesce((select r.proven_at from rebuilt as r), '-infinity'))
    order by
        %(from_projection)s in (v.left_projection, v.right_projection) desc,
        v.verification_id desc
    limit 1
),

-- where topics differ, offsets can't be held against each other: what was found at this place of the old one can
across as (
    select
        v.verification_id,
        v.started_at,
        case when v.left_projection = %(from_projection)s then v.topic_id else v.right_topic_id end as topic_id,
        case
            when v.left_projection = %(from_projection)s then v.next_offsets else v.right_next_offsets
        end as next_offsets
    from chronofact.verification as v
    where
        v.aspects = 'across'
        and v.identical
        and %(to_projection)s in (v.left_projection, v.right_projection)
        and %(from_projection)s in (v.left_projection, v.right_projection)
        and v.started_at >= coalesce((select r.started_at from rebuilt as r), '-infinity')
    order by v.verification_id desc
    limit 1
)

select
    t.of_new is not null as is_begun,
    coalesce(t.of_new <> t.of_old, false) as is_of_other_topic,
    exists(
        select from chronofact.checkpoint as c
        where
            c.projection = %(to_projection)s
            and c.stop_at <= c.next_offset
            and c.stop_until > clock_timestamp()
    ) as is_held,
    (
        select coalesce(sum(greatest(0, o.next_offset - coalesce(n.next_offset, 0))), 0)::bigint
        from chronofact.checkpoint as o
        left join chronofact.checkpoint as n
            on n.projection = %(to_projection)s and o.topic_id = n.topic_id and o.partition = n.partition
        where o.projection = %(from_projection)s
    ) as lag_events,
    (
        select
            coalesce(
                sum(
                    greatest(
                        0,
                        o.next_offset
                        - case when o.topic_id = a.topic_id then coalesce(a.next_offsets[o.partition + 1], 0) else 0 end
                    )
                ),
                0
            )::bigint
            -- what was parked and is applied changes no offset
            + (
                select count(*)
                from chronofact.released_event as e
                where e.projection = %(from_projection)s and e.released_at >= a.started_at
            )
        from across as a
        cross join chronofact.checkpoint as o
        where o.projection = %(from_projection)s
        group by a.verification_id, a.started_at
    ) as applied_since,
    r.rebuild_id is not null as is_rebuilt,
    r.compared_with,
    v.verification_id,
    v.beside,
    v.identical,
    (
        select k.run_id
        from chronofact.reconciliation_run as k
        where
            k.projection = %(to_projection)s and k.state = 'finished' and k.divergences = 0
            and k.started_at >= coalesce(r.started_at, '-infinity')
        order by k.run_id desc
        limit 1
    ) as clean_check,
    s.shadow_id,
    s.old_projection,
    s.is_over,
    s.until,
    s.failure as shadow_failure,
    s.unknown
from topic as t
left join verified as v on true
left join rebuilt as r on true
left join chronofact.shadow_standing as s on s.projection = %(to_projection)s
