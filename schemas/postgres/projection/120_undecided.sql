-- Pairs of the fact's memories that their newest check left undecided and of which nothing was declared since, as known
-- then; other is null for those that the check counted and did not name. What was revoked never counted: nothing waits
-- for it.
create function {schema}.undecided_at(
    fact_no bigint,
    system_as_of timestamptz,
    out version_id uuid,
    out other_version_id uuid,
    out reason text,
    out recorded_at timestamptz -- of the check
)
returns setof record
language sql stable parallel safe
as $$
    with newest as (
        select
            c.version_id,
            c.pending,
            said.recorded_at,
            case when pg_input_is_valid(c.reason, 'jsonb') then c.reason::jsonb -> 'pending' end as by_reason
        from {schema}.checked as c
        inner join {schema}.event as said on c.fact_no = said.fact_no and c.event_seq = said.event_seq
        where
            c.fact_no = undecided_at.fact_no
            and c.pending > 0
            and said.recorded_at <= coalesce(undecided_at.system_as_of, 'infinity')
            and not exists (
                select from {schema}.checked as later
                inner join {schema}.event as told on later.fact_no = told.fact_no and later.event_seq = told.event_seq
                where
                    later.version_id = c.version_id
                    and later.fact_no = c.fact_no
                    and later.event_seq > c.event_seq
                    and told.recorded_at <= coalesce(undecided_at.system_as_of, 'infinity')
            )
    ),

    named as (
        select
            n.version_id,
            p.id::uuid as other_id,
            min(r.reason) as reason,
            n.recorded_at
        from newest as n
        cross join lateral jsonb_each(
            case when jsonb_typeof(n.by_reason) = 'object' then n.by_reason end
        ) as r (reason, ids)
        cross join lateral jsonb_array_elements_text(
            case when jsonb_typeof(r.ids) = 'array' then r.ids end
        ) as p (id)
        where pg_input_is_valid(p.id, 'uuid') and p.id <> n.version_id::text
        group by n.version_id, p.id::uuid, n.recorded_at
    ),

    -- what labels call revoked is so for ever; since when that is known only events tell
    revoked as materialized (
        select v.version_id
        from {schema}.version as v
        left join lateral (
            select newest_label.lifecycle
            from {schema}.version_label as newest_label
            where newest_label.fact_no = v.fact_no and newest_label.version_no = v.version_no
            order by newest_label.event_seq desc
            limit 1
        ) as l on true
        where
            v.fact_no = undecided_at.fact_no
            and v.version_id in (
                select n.version_id from newest as n
                union all
                select n.other_id from named as n
            )
            and coalesce(l.lifecycle, v.lifecycle) = 'REVOKED'
            and (
                undecided_at.system_as_of is null
                or exists (
                    select from {schema}.event as e
                    where
                        e.fact_no = undecided_at.fact_no
                        and e.event_type = 'FactRevoked'
                        and e.version_ids[1] = v.version_id
                        and e.recorded_at <= undecided_at.system_as_of
                )
            )
    )

    select
        n.version_id,
        n.other_id,
        n.reason,
        n.recorded_at
    from named as n
    where
        n.version_id not in (select x.version_id from revoked as x)
        and n.other_id not in (select x.version_id from revoked as x)
        and not exists (
            select from {schema}.relation as r
            inner join {schema}.event as declared on r.fact_no = declared.fact_no and r.event_seq = declared.event_seq
            where
                r.fact_no = undecided_at.fact_no
                and r.left_version_id in (n.version_id, n.other_id)
                and r.right_version_id in (n.version_id, n.other_id)
                and r.left_version_id <> r.right_version_id
                and (r.relation <> 'supersedes' or r.newer_version_id in (r.left_version_id, r.right_version_id))
                and declared.recorded_at <= coalesce(undecided_at.system_as_of, 'infinity')
        )
    union all
    select
        n.version_id,
        null,
        'not_told',
        n.recorded_at
    from newest as n
    where
        n.version_id not in (select x.version_id from revoked as x)
        and n.pending > (
            select count(*) from named as one
            where one.version_id = n.version_id
        )
$$;
