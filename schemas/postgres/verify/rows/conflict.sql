-- Every conflict edge, with the event since which it is so.
select
    t.fact_no,
    uuid_hash_extended(t.left_version_id, uuid_hash_extended(t.right_version_id, int8xor(
        hashbyteaextended(timestamptz_send(t.recorded_at), int8xor(t.event_seq, {key})),
        hashtextextended(t.relation, 1)
    ))) as h
from {schema}.conflict as t
where {which}
