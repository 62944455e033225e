-- Every painted stretch; what is never null is cheaper hashed by itself. One of those stands in the row, too, since a
-- row of nulls has the same hash whatever the seed.
select
    t.fact_no,
    hash_record_extended((
        t.kind, timestamptz_send(t.valid_from), timestamptz_send(t.valid_to), t.reason, t.answer_key, t.versions,
        t.winner
    ), hashbyteaextended(timestamptz_send(t.known_from), hashint4extended(
        t.lane, int8xor(int8xor({key}, t.event_seq), coalesce(timestamptz_hash_extended(t.valid_from, 1), 1))
    ))) as h
from {schema}.timeline as t
where {which}
