-- The state hash of each fact by semantics §5 and ADR 15: a sum over its stretches and conflict edges.
with told as (
    select
        s.fact_no,
        case s.lane
            when 0 then pg_temp.stretch_said(
                (array['unknown', 'value', 'conflict'])[s.kind + 1], r.said, s.valid_from, s.valid_to,
                case s.versions
                    when 0 then pg_temp.nothing_behind()
                    when 1 then pg_temp.one_behind(v.same_hash, v.version_id)
                    else m.behind
                end
            )
            else concat(
                case s.kind when 1 then '{"lane":"lane","kind":"value"' else '{"lane":"lane_unknown","kind":"unknown"' end,
                ',"reason":', r.said,
                ',"valid_from":', pg_temp.bound_said(s.valid_from), ',"valid_to":', pg_temp.bound_said(s.valid_to),
                ',', pg_temp.one_behind(v.same_hash, v.version_id), '}'
            )
        end as content
    from stretch as s
    left join member as m on s.cell = m.cell and s.versions > 1
    left join ver as v on s.fact_no = v.fact_no and s.rank = v.rank and s.versions = 1
    left join (
        values
        (1, '"excluded"'), (2, '"ended"'), (3, '"superseded"'), (4, '"not_yet_valid"'), (5, '"revoked"'),
        (6, '"proposed_only"'), (7, '"never_recorded"'), (0, 'null')
    ) as r (reason, said) on coalesce(s.reason, 0) = r.reason
    where s.lane >= 0
    union all
    select
        p.fact_no,
        concat(
            '{"left":"', replace(p.left_id::text, '-', ''), '","relation":"', p.relation, '","right":"',
            replace(p.right_id::text, '-', ''), '"}'
        )
    from (
        select
            o.*,
            row_number() over (partition by o.fact_no, o.is_rival order by o.left_id, o.right_id) as turn
        from pair as o
    ) as p
    where not p.is_rival or p.turn <= 1000
)

insert into state
select
    n.fact_no,
    pg_temp.total(
        sum(pg_temp.part(n.digest, 0))::bigint, sum(pg_temp.part(n.digest, 1))::bigint,
        sum(pg_temp.part(n.digest, 2))::bigint, sum(pg_temp.part(n.digest, 3))::bigint,
        sum(pg_temp.part(n.digest, 4))::bigint, sum(pg_temp.part(n.digest, 5))::bigint,
        sum(pg_temp.part(n.digest, 6))::bigint, sum(pg_temp.part(n.digest, 7))::bigint
    )
from (
    select
        t.fact_no,
        sha256(convert_to(t.content, 'UTF8')) as digest
    from told as t
    offset 0
) as n
group by n.fact_no
