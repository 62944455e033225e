-- Waiting proposals and contradictions, which come up as questions and never as answers; and what a page that was begun
-- earlier may know of a fact.
create index version_proposed on {schema}.version (fact_no) where lifecycle = 'PROPOSED';

-- The fact's system time as of a cut of the log: that of its last event below next_offsets (one a partition, from 0),
-- but no later than system_as_of.
create function {schema}.known_by(fact_no bigint, next_offsets bigint[], system_as_of timestamptz)
returns timestamptz
language sql stable parallel safe
as $$
    select least(known_by.system_as_of, (
        select e.recorded_at
        from {schema}.event as e
        where
            e.fact_no = known_by.fact_no
            and e.kafka_offset < known_by.next_offsets[(known_by.fact_no >> 40) + 1]
        order by e.fact_no desc, e.event_seq desc
        limit 1
    ))
$$;

-- Whether an event lies below such a cut.
create function {schema}.lies_below(fact_no bigint, event_seq bigint, next_offsets bigint[]) returns boolean
language sql stable parallel safe
as $$
    select exists (
        select from {schema}.event as e
        where
            e.fact_no = lies_below.fact_no
            and e.event_seq = lies_below.event_seq
            and e.kafka_offset < lies_below.next_offsets[(lies_below.fact_no >> 40) + 1]
    )
$$;

-- The numbers of the versions that were proposed, never activated and not revoked, as known then (semantics §3).
create function {schema}.proposals_at(fact_no bigint, system_as_of timestamptz) returns setof integer
language sql stable parallel safe rows 1
as $$
    select v.version_no
    from {schema}.version as v
    where
        v.fact_no = proposals_at.fact_no
        and v.recorded_at <= coalesce(proposals_at.system_as_of, 'infinity')
        -- the label is of the end of a batch, so it may hide what was known within one
        and (v.lifecycle = 'PROPOSED' or proposals_at.system_as_of is not null)
        and v.version_id not in (
            select e.version_ids[1]
            from {schema}.event as e
            where
                e.fact_no = proposals_at.fact_no
                and e.recorded_at <= coalesce(proposals_at.system_as_of, 'infinity')
                and e.version_ids[1] is not null
                and (
                    e.event_type in ('FactActivated', 'FactRevoked')
                    or (e.event_type = 'FactAsserted' and e.canonical_payload::json ->> 'lifecycle' = 'ACTIVE')
                )
        )
$$;

-- The decision that counts for a pair, as known then (semantics §3, Decisions); no line where none does.
create function {schema}.decision_at(
    fact_no bigint, left_version_id uuid, right_version_id uuid, system_as_of timestamptz
)
returns setof {schema}.decision
language sql stable parallel safe rows 1
as $$
    select d.*
    from {schema}.decision as d
    inner join {schema}.event as said on d.fact_no = said.fact_no and d.event_seq = said.event_seq
    where
        d.fact_no = decision_at.fact_no
        and d.left_version_id = decision_at.left_version_id
        and d.right_version_id = decision_at.right_version_id
        and (d.keep is null or d.keep in (d.left_version_id, d.right_version_id))
        and said.recorded_at <= coalesce(decision_at.system_as_of, 'infinity')
        and not exists (
            select from {schema}.event as taken_back
            where
                taken_back.fact_no = d.fact_no
                and taken_back.event_type = 'FactRevoked'
                and taken_back.recorded_at <= coalesce(decision_at.system_as_of, 'infinity')
                and taken_back.canonical_payload::json ->> 'event_id' = d.event_id::text
        )
    order by d.decided_at desc, d.event_id desc
    limit 1
$$;

-- Pairs of active versions that contradict each other by the verdict that counts and that no decision has settled, as
-- known then; pending is the side of the lower confidence (none is lowest; ties: the higher id), under review.
create function {schema}.contradictions_at(
    fact_no bigint,
    system_as_of timestamptz,
    out left_version_id uuid,
    out right_version_id uuid,
    out pending_version_id uuid,
    out recorded_at timestamptz -- of the verdict
)
returns setof record
language sql stable parallel safe rows 1
as $$
    with event as not materialized (
        select e.*
        from {schema}.event as e
        where
            e.fact_no = contradictions_at.fact_no
            and e.recorded_at <= coalesce(contradictions_at.system_as_of, 'infinity')
    ),

    verdict as (
        select distinct on (left_id, right_id)
            least(r.left_version_id, r.right_version_id) as left_id,
            greatest(r.left_version_id, r.right_version_id) as right_id,
            r.relation,
            said.recorded_at
        from {schema}.relation as r
        inner join event as said on r.event_seq = said.event_seq
        where
            r.fact_no = contradictions_at.fact_no
            and r.left_version_id <> r.right_version_id
            and (r.relation <> 'supersedes' or r.newer_version_id in (r.left_version_id, r.right_version_id))
        order by
            left_id asc,
            right_id asc,
            r.decided_by = 'person' desc,
            r.decided_at desc,
            r.event_id desc
    ),

    pair as materialized (
        select p.left_id, p.right_id, p.recorded_at
        from verdict as p
        where
            p.relation = 'contradicts'
            and not exists (
                select from {schema}.decision_at(
                    contradictions_at.fact_no, p.left_id, p.right_id, contradictions_at.system_as_of
                )
            )
    ),

    standing as (
        select
            e.version_id,
            bool_or(e.event_type = 'FactRevoked') as is_revoked,
            bool_or(e.event_type = 'FactActivated') as is_activated,
            bool_or(e.event_type = 'FactAsserted') as is_asserted,
            bool_or(e.payload ->> 'lifecycle' = 'ACTIVE') as is_said_active,
            max((e.payload ->> 'confidence')::double precision) as confidence,
            max((e.payload ->> 'confidence')::double precision) filter (
                where e.payload ->> 'lifecycle' = 'ACTIVE'
            ) as confidence_active
        from (
            select
                one.version_ids[1] as version_id,
                one.event_type,
                case when one.event_type = 'FactAsserted' then one.canonical_payload::json end as payload
            from event as one
            where
                one.event_type in ('FactAsserted', 'FactActivated', 'FactRevoked')
                and one.version_ids[1] = any(array(
                    select p.left_id from pair as p
                    union distinct
                    select p.right_id from pair as p
                ))
        ) as e
        group by e.version_id
    ),

    active as materialized (
        select
            s.version_id,
            coalesce(case when s.is_activated then s.confidence else s.confidence_active end, -1) as confidence
        from standing as s
        where s.is_asserted and (s.is_said_active or s.is_activated) and not s.is_revoked
    )

    select
        p.left_id,
        p.right_id,
        case when l.confidence < r.confidence then p.left_id else p.right_id end,
        p.recorded_at
    from pair as p
    inner join active as l on p.left_id = l.version_id
    inner join active as r on p.right_id = r.version_id
$$;
