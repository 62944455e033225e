-- Every conflict edge, with the event since which it is so.
select
    t.fact_no,
    hash_record_extended((
        t.left_version_id, t.right_version_id, t.relation, int8send(t.event_seq), timestamptz_send(t.recorded_at)
    ), uuid_hash_extended(t.left_version_id, uuid_hash_extended(t.right_version_id, {key}))) as h
from {schema}.conflict as t
where {which}
