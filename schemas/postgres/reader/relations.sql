-- One page of the declarations that count, a pair each (semantics §3): of one memory, or of a subject's; with the facts
-- of either that the other one ended, unless that was revoked (ADR 44).
with about as materialized (
    select f.*
    from {schema}.fact as f
    where
        f.tenant_id = %(tenant_id)s
        {filters}
),

said as (
    select one.*
    from about as a
    inner join {schema}.relation as one on a.fact_no = one.fact_no
    where %(version_id)s::uuid is null
    union all
    select on_left.*
    from about as a
    inner join {schema}.relation as on_left
        on a.fact_no = on_left.fact_no and on_left.left_version_id = %(version_id)s
    union all
    select on_right.*
    from about as a
    inner join {schema}.relation as on_right
        on a.fact_no = on_right.fact_no and on_right.right_version_id = %(version_id)s
),

counting as (
    select distinct on (f.fact_id, r.left_version_id, r.right_version_id)
        r.*,
        f.fact_id,
        f.tenant_id,
        f.subject_id,
        f.subject_label,
        f.scope_kind,
        f.scope_key,
        f.fact_key
    from about as f
    inner join said as r on f.fact_no = r.fact_no
    where
        r.left_version_id <> r.right_version_id
        and (r.relation <> 'supersedes' or r.newer_version_id in (r.left_version_id, r.right_version_id))
        and (f.fact_id, r.left_version_id, r.right_version_id) > (%(after_fact)s, %(after_left)s, %(after_right)s)
        and (%(next_offsets)s::bigint[] is null or {schema}.lies_below(r.fact_no, r.event_seq, %(next_offsets)s))
    order by
        f.fact_id asc,
        r.left_version_id asc,
        r.right_version_id asc,
        r.decided_by = 'person' desc,
        r.decided_at desc,
        r.event_id desc
)

select
    c.left_version_id,
    c.right_version_id,
    c.relation,
    case when c.relation = 'supersedes' then c.newer_version_id end as newer_version_id,
    c.decided_by,
    c.reason,
    c.llm_call_made,
    c.model,
    c.decided_at,
    c.event_id,
    left(l.value_json #>> '{}', %(chars_max)s) as left_text,
    left(r.value_json #>> '{}', %(chars_max)s) as right_text,
    l.valid_from as left_valid_from,
    r.valid_from as right_valid_from,
    c.fact_id,
    c.subject_id,
    c.subject_label,
    c.scope_kind,
    c.scope_key,
    c.fact_key,
    (
        select
            json_agg(
                json_build_object('key', g.given ->> 'key', 'version_id', e.version_id, 'event_id', e.event_id)
                order by g.given ->> 'key', e.event_id
            )
        from (values (l.version_no, c.right_version_id), (r.version_no, c.left_version_id)) as o (version_no, ender_id)
        inner join {schema}.memory as m on m.fact_no = c.fact_no and o.version_no = m.version_no
        cross join lateral (select m.frames -> 0 -> 'told' -> 'facts' as facts) as t
        cross join
            lateral json_array_elements(
                case when json_typeof(t.facts) = 'array' then t.facts else '[]'::json end
            ) as g (given)
        inner join {schema}.fact as f
            on
                f.tenant_id = c.tenant_id
                and f.subject_id = c.subject_id
                and f.scope_kind = c.scope_kind
                and f.scope_key = c.scope_key
                and f.fact_key = g.given ->> 'key'
        inner join {schema}.ending as e on f.fact_no = e.fact_no and e.version_id::text = g.given ->> 'version_id'
        inner join {schema}.event as said on e.fact_no = said.fact_no and e.event_seq = said.event_seq
        where
            said.canonical_payload::json ->> 'reason' = 'ended by memory ' || o.ender_id
            and not exists (
                select from {schema}.event as taken_back
                where
                    e.fact_no = taken_back.fact_no
                    and taken_back.event_type = 'FactRevoked'
                    and taken_back.canonical_payload::json ->> 'event_id' = e.event_id::text
            )
    ) as ended
from counting as c
left join {schema}.version as l on c.fact_no = l.fact_no and c.left_version_id = l.version_id
left join {schema}.version as r on c.fact_no = r.fact_no and c.right_version_id = r.version_id
where %(relation)s::text is null or c.relation = %(relation)s
order by c.fact_id, c.left_version_id, c.right_version_id
limit %(limit)s
