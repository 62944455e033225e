-- Memories that nobody has held against the others of their fact, in the order of their numbers behind a place; nobody
-- waits for those that are revoked.
select
    f.fact_id,
    f.tenant_id,
    v.version_id,
    v.recorded_at,
    t.fact_no,
    t.version_no
from {schema}.memory as t
inner join {schema}.version as v on t.fact_no = v.fact_no and t.version_no = v.version_no
inner join {schema}.fact as f on t.fact_no = f.fact_no
left join lateral (
    select
        newest.fact_no,
        newest.lifecycle
    from {schema}.version_label as newest
    where newest.fact_no = t.fact_no and newest.version_no = t.version_no
    order by newest.event_seq desc
    limit 1
) as l on true
where
    (t.fact_no, t.version_no) > (%(after_fact_no)s, %(after_version_no)s)
    and v.recorded_at <= %(older_than)s
    and not exists (
        select from {schema}.checked as c
        where c.fact_no = t.fact_no and c.version_id = v.version_id
    )
    and case when l.fact_no is null then v.lifecycle else l.lifecycle end <> 'REVOKED'
order by t.fact_no, t.version_no
limit %(memories_max)s
