-- One answer, with the position that it is as of.
select
    p.rule,
    (
        select array_agg(array[c.partition, c.next_offset])
        from chronofact.checkpoint as c
        where c.projection = {projection}
    ) as next_offsets,
    (
        select c.topic_id
        from chronofact.checkpoint as c
        where c.projection = {projection}
        limit 1
    ) as topic_id,
    chronofact.serves({projection}, %(tenant_id)s) as serves,
    exists(select from chronofact.parked_event as e where e.projection = {projection}) as holds,
    r.fact_no,
    r.subject_label,
    r.kind,
    r.reason,
    r.versions,
    r.valid_from,
    r.valid_to,
    r.version_id,
    r.value_json,
    r.recorded_at,
    r.agreeing
from chronofact.projection as p
cross join {schema}.read_one(%(fact_id)s, %(valid_at)s, %(system_as_of)s) as r
where p.name = {projection}
