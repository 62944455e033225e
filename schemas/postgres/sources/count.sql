-- Versions of a source in one leaf: not revoked, of how many facts, how many of these are held; and those revoked.
select
    count(*) filter (where v.lifecycle <> 'REVOKED') as versions,
    count(distinct v.fact_no) filter (where v.lifecycle <> 'REVOKED') as facts,
    count(distinct v.fact_no) filter (
        where
        v.lifecycle <> 'REVOKED'
        and exists (
            select from chronofact.parked_event as e
            where e.projection = {projection} and e.fact_id = v.fact_id
        )
    ) as facts_held,
    count(*) filter (where v.lifecycle = 'REVOKED') as revoked
from {schema}.labelled_version as v
where
    v.fact_no >= %(first)s
    and v.fact_no <= %(last)s
    and v.source_id = %(source_id)s
    and (%(source_hash)s::bytea is null or v.source_hash = %(source_hash)s)
    and v.tenant_id = %(tenant_id)s
    and (%(subject_id)s::uuid is null or v.subject_id = %(subject_id)s)
