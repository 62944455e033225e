-- The facts of which messages are parked, those that a list can't cover left out; looks at so many messages.
with looked as materialized (
    select e.fact_id
    from chronofact.parked_event as e
    where e.projection = {projection} and e.fact_id is not null {filters}
    order by e.fact_id
    limit %(limit)s
),

counted as (
    select
        l.fact_id,
        count(*) as held
    from looked as l
    group by l.fact_id
),

named as (
    select
        g.fact_id,
        g.held,
        f.tenant_id,
        f.subject_id,
        f.scope_kind,
        f.scope_key,
        f.fact_key
    from counted as g
    left join {schema}.fact as f on g.fact_id = f.fact_id
    where
        f.fact_id is null
        or %(fact_id)s::uuid is not null
        or (
            f.tenant_id = %(tenant_id)s
            and (%(subject_id)s::uuid is null or f.subject_id = %(subject_id)s)
        )
),

whole as (
    select count(*) as messages
    from looked
)

select
    w.messages,
    n.fact_id,
    n.held,
    n.tenant_id,
    n.subject_id,
    n.scope_kind,
    n.scope_key,
    n.fact_key
from whole as w
left join named as n on true
