-- Facts that are not alike on both sides, whose events are equal in number, or one side of which has passed what the
-- other one has and did not count it; the rest of them is in flight.
create temporary table looked on commit drop as
with paired as (
    select
        coalesce(n.fact_id, o.fact_id) as fact_id,
        o.fact_no as old_no,
        n.fact_no as new_no,
        o.state_hash as old_hash,
        n.state_hash as new_hash,
        coalesce(o.event_seq, 0) as old_seq,
        coalesce(n.event_seq, 0) as new_seq,
        coalesce(n.tenant_id, o.tenant_id) as tenant_id,
        -- what no rule changes
        o.event_seq = n.event_seq and (
            o.recorded_at <> n.recorded_at
            or o.versions <> n.versions
            or (o.tenant_id, o.subject_id, o.scope_kind, o.scope_key, o.fact_key)
            is distinct from (n.tenant_id, n.subject_id, n.scope_kind, n.scope_key, n.fact_key)
        ) as is_said_otherwise
    from {old}.fact as o
    full join {new}.fact as n on o.fact_id = n.fact_id
),

unlike as (
    select
        p.*,
        -- of the event that only one side has; one that is not there lies nowhere, so it was passed
        case
            when p.old_seq < p.new_seq
                then
                    coalesce((
                        select e.kafka_offset from {new}.event as e
                        where e.fact_no = p.new_no and e.event_seq = p.old_seq + 1
                    ), -1)
            when p.new_seq < p.old_seq
                then
                    coalesce((
                        select e.kafka_offset from {old}.event as e
                        where e.fact_no = p.old_no and e.event_seq = p.new_seq + 1
                    ), -1)
        end as kafka_offset
    from paired as p
    where
        p.old_no is null
        or p.new_no is null
        or p.old_seq <> p.new_seq
        or p.old_hash <> p.new_hash
        or p.is_said_otherwise
),

applied as (
    select
        x.partition,
        x.next_offset as old_next,
        y.next_offset as new_next
    from chronofact.checkpoint as x
    inner join chronofact.checkpoint as y on x.topic_id = y.topic_id and x.partition = y.partition
    where x.projection = %(old)s and y.projection = %(new)s
)

select
    u.fact_id,
    u.old_no,
    u.new_no,
    u.old_hash,
    u.new_hash,
    u.old_seq,
    u.new_seq,
    u.tenant_id,
    coalesce(u.is_said_otherwise, false) as is_said_otherwise,
    case
        when u.old_seq < u.new_seq then coalesce(a.old_next <= u.kafka_offset, true)
        when u.new_seq < u.old_seq then coalesce(a.new_next <= u.kafka_offset, true)
        else false
    end as is_in_flight
from unlike as u
left join applied as a on coalesce(u.new_no, u.old_no) >> 40 = a.partition
