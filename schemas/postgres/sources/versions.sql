-- A page of a source's versions that are not revoked, in one leaf.
select
    v.fact_no,
    v.version_no,
    v.id as version_id,
    v.fact_id,
    v.subject_id,
    v.scope_kind,
    v.scope_key,
    v.fact_key
from {schema}.labelled_version as v
where
    v.fact_no >= %(first)s
    and v.fact_no <= %(last)s
    and (v.fact_no, v.version_no) > (%(after_fact_no)s, %(after_version_no)s)
    and v.lifecycle <> 'REVOKED'
    and v.source_id = %(source_id)s
    and (%(source_hash)s::bytea is null or v.source_hash = %(source_hash)s)
    and v.tenant_id = %(tenant_id)s
    and (%(subject_id)s::uuid is null or v.subject_id = %(subject_id)s)
order by v.fact_no, v.version_no
limit %(limit)s
