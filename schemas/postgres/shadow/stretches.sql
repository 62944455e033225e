-- Each fact's answers along valid time as known now, from its start on, with what they say and what stands behind them.
with recursive walk as (
    select
        w.fact_no,
        1::integer as step,
        a.kind,
        a.reason,
        a.versions,
        a.winner,
        a.valid_from,
        a.valid_to
    from unnest(%(fact_nos)s::bigint[]) as w (fact_no)
    cross join lateral {schema}.answer_at(w.fact_no, '-infinity', null) as a
    union all
    select
        w.fact_no,
        w.step + 1 as step,
        a.kind,
        a.reason,
        a.versions,
        a.winner,
        a.valid_from,
        a.valid_to
    from walk as w
    cross join lateral {schema}.answer_at(w.fact_no, w.valid_to, null) as a
    where w.valid_to is not null and w.step < %(stretches_max)s
)

select
    w.fact_no,
    w.valid_from,
    w.valid_to,
    w.kind,
    w.reason,
    coalesce(v.value_hashes, '{}') as value_hashes,
    v.values_digest,
    v.versions_digest,
    case w.kind
        when 0 then json_build_object('kind', 'unknown', 'reason', {schema}.reason_name(w.reason))
        when 1 then json_build_object('kind', 'value', 'value', v.answering, 'version_id', v.version_id)
        else json_build_object(
            'kind', {schema}.kind_name(w.kind), 'count', cardinality(w.versions), 'versions', v.first_ones
        )
    end as said
from walk as w
left join lateral (
    select
        (array_agg(distinct one.value_hash))[:%(values_max)s] as value_hashes,
        md5(string_agg(distinct encode(one.value_hash, 'hex'), ',')) as values_digest,
        md5(string_agg(one.version_id::text, ',' order by one.version_id)) as versions_digest,
        (array_agg(one.version_id) filter (where one.version_no = w.winner))[1] as version_id,
        (array_agg(one.shown) filter (where one.version_no = w.winner))[1] as answering,
        json_agg(json_build_object('value', one.shown, 'version_id', one.version_id) order by one.version_id)
        filter (where one.place <= %(values_max)s) as first_ones
    from (
        select
            n.version_no,
            n.version_id,
            n.value_hash,
            row_number() over (order by n.version_id) as place,
            case
                when octet_length(n.value_json::text) <= %(value_bytes_max)s then n.value_json
                else json_build_object('cut', left(n.value_json::text, 200), 'bytes', octet_length(n.value_json::text))
            end as shown
        from {schema}.version as n
        where n.fact_no = w.fact_no and n.version_no = any(w.versions)
    ) as one
) as v on w.kind > 0
order by w.fact_no, w.step
