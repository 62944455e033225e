-- A subject's facts that hold text memories, by scope and key, and whether something of their pairs may be open.
select
    f.fact_no,
    f.fact_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.subject_label,
    case
        when %(next_offsets)s::bigint[] is null then %(system_as_of)s::timestamptz
        else {schema}.known_by(f.fact_no, %(next_offsets)s, %(system_as_of)s)
    end as as_of,
    exists(
        select from {schema}.relation as r
        where r.fact_no = f.fact_no and r.relation = 'contradicts'
    ) as is_disputed,
    exists(select from {schema}.checked as c where c.fact_no = f.fact_no and c.pending > 0) as is_undecided
from {schema}.fact as f
where
    f.tenant_id = %(tenant_id)s
    and f.subject_id = %(subject_id)s
    and starts_with(f.fact_key, 'memory/')
    and (%(next_offsets)s::bigint[] is null or {schema}.lies_below(f.fact_no, 1, %(next_offsets)s))
    {filters}
order by f.scope_kind, f.scope_key, f.fact_key
