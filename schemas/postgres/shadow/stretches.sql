-- Each fact's answers along valid time as known now, from its start on, with what they say and what stands behind them.
-- They are asked for wherever something painted begins or ends: the same value may go on by other versions.
with bound as (
    select
        w.fact_no,
        '-infinity'::timestamptz as bound_at
    from unnest(%(fact_nos)s::bigint[]) as w (fact_no)
    union
    select
        t.fact_no,
        t.valid_from as bound_at
    from {schema}.timeline as t
    where t.fact_no = any(%(fact_nos)s::bigint[]) and isfinite(t.valid_from)
    union
    select
        t.fact_no,
        t.valid_to as bound_at
    from {schema}.timeline as t
    where t.fact_no = any(%(fact_nos)s::bigint[]) and isfinite(t.valid_to)
),

answered as (
    select
        b.fact_no,
        b.bound_at,
        a.kind,
        a.reason,
        a.versions,
        a.winner
    from bound as b
    cross join lateral {schema}.answer_at(b.fact_no, b.bound_at, null) as a
),

cell as (
    select
        c.fact_no,
        c.bound_at,
        c.kind,
        c.reason,
        c.versions,
        c.winner,
        (
            c.kind is distinct from lag(c.kind) over beside
            or c.reason is distinct from lag(c.reason) over beside
            or c.versions is distinct from lag(c.versions) over beside
            or c.winner is distinct from lag(c.winner) over beside
        ) as is_other
    from answered as c
    window beside as (partition by c.fact_no order by c.bound_at)
),

walk as (
    select
        c.fact_no,
        c.kind,
        c.reason,
        c.versions,
        c.winner,
        nullif(c.bound_at, '-infinity') as valid_from,
        lead(c.bound_at) over beside as valid_to,
        row_number() over beside as step
    from cell as c
    where c.is_other
    window beside as (partition by c.fact_no order by c.bound_at)
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
        md5(concat(
            min(one.version_id::text) filter (where one.version_no = w.winner), ' of ',
            string_agg(one.version_id::text, ',' order by one.version_id)
        )) as versions_digest,
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
where w.step <= %(stretches_max)s
order by w.fact_no, w.step
