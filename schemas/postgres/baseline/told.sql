-- Differences with both sides, some of each class and reason, or all.
select
    n.fact_id,
    n.tenant_id,
    n.subject,
    n.scope_kind || ':' || n.scope_key as scope,
    n.fact_key,
    n.valid_from,
    n.valid_to,
    n.class,
    n.why,
    n.line,
    n.shown::json as theirs_value,
    case
        when n.fact_no is null then json_build_object('kind', 'not_there')
        when n.kind = 0 then json_build_object('kind', 'unknown', 'reason', {schema}.reason_name(n.reason))
        when n.kind = 1 then json_build_object('kind', 'value', 'value', v.answering, 'version_id', v.version_id)
        else json_build_object(
            'kind', {schema}.kind_name(n.kind), 'count', cardinality(n.versions), 'versions', v.first_ones
        )
    end as ours_said
from (
    select
        b.*,
        row_number() over (partition by b.class, b.why order by b.line nulls last, b.fact_id) as place
    from beside as b
    where
        b.class is not null
        and (%(tenant_id)s::uuid is null or b.tenant_id = %(tenant_id)s)
        and (%(class)s::text is null or b.class = %(class)s)
) as n
left join lateral (
    select
        (array_agg(one.version_id) filter (where one.version_no = n.winner))[1] as version_id,
        (array_agg(one.shown) filter (where one.version_no = n.winner))[1] as answering,
        json_agg(json_build_object('value', one.shown, 'version_id', one.version_id) order by one.version_id)
        filter (where one.turn <= 20) as first_ones
    from (
        select
            s.version_no,
            s.version_id,
            row_number() over (order by s.version_id) as turn,
            case
                when octet_length(s.value_json::text) <= 1000 then s.value_json
                else json_build_object('cut', left(s.value_json::text, 200), 'bytes', octet_length(s.value_json::text))
            end as shown
        from {schema}.version as s
        where s.fact_no = n.fact_no and s.version_no = any(n.versions)
    ) as one
) as v on n.kind > 0
where %(samples)s::bigint is null or n.place <= %(samples)s
order by n.class = 'unknown' desc, n.class asc, n.why asc, n.place asc
