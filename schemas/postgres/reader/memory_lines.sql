-- Some text memories, in the order asked for, as known then.
select
    v.version_id,
    coalesce(t.text, v.value_json #>> '{}') as text,
    v.valid_from,
    {schema}.held_until(v.fact_no, v.version_id, v.valid_to, q.as_of) as valid_to,
    v.recorded_at,
    v.source_id,
    case when l.fact_no is null then v.confidence else l.confidence end as confidence,
    exists(
        select from {schema}.checked as c
        inner join {schema}.event as said on c.fact_no = said.fact_no and c.event_seq = said.event_seq
        where
            c.version_id = v.version_id
            and c.fact_no = v.fact_no
            and said.recorded_at <= coalesce(q.as_of, 'infinity')
    ) as is_checked
from unnest(%(fact_nos)s, %(version_nos)s, %(system_as_ofs)s) with ordinality as q (fact_no, version_no, as_of, place)
inner join {schema}.version as v on q.fact_no = v.fact_no and q.version_no = v.version_no
left join {schema}.memory as t on v.fact_no = t.fact_no and v.version_no = t.version_no
left join lateral (
    select
        newest.fact_no,
        newest.confidence
    from {schema}.version_label as newest
    inner join {schema}.event as said on newest.fact_no = said.fact_no and newest.event_seq = said.event_seq
    where
        newest.fact_no = v.fact_no
        and newest.version_no = v.version_no
        and said.recorded_at <= coalesce(q.as_of, 'infinity')
    order by newest.event_seq desc
    limit 1
) as l on true
order by q.place
