-- What of a fact's head does not depend on the rule.
select
    t.fact_no,
    t.fact_id,
    t.event_seq,
    t.versions,
    hash_record_extended((
        t.fact_id, t.tenant_id, t.subject_id, t.scope_kind, t.scope_key, t.fact_key, t.subject_label,
        int8send(t.event_seq), timestamptz_send(t.recorded_at), t.versions, t.fact_no >> 40
    ), {key}) as h
from {schema}.fact as t
where {which}
