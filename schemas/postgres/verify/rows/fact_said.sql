-- What of a fact's head does not depend on the rule.
select
    t.fact_no,
    t.fact_id,
    uuid_hash_extended(t.fact_id, uuid_hash_extended(t.tenant_id, int8xor(
        uuid_hash_extended(t.subject_id, hashbyteaextended(
            timestamptz_send(t.recorded_at), int8xor(t.event_seq, hashint4extended(t.versions, t.fact_no >> 40))
        )),
        int8xor(
            int8xor(hashtextextended(t.scope_kind, 1), hashtextextended(t.scope_key, 2)),
            int8xor(hashtextextended(t.fact_key, 3), coalesce(hashtextextended(t.subject_label, 4), 4))
        )
    ))) as h
from {schema}.fact as t
where {which}
