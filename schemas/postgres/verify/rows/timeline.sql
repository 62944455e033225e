-- Every painted stretch.
select
    t.fact_no,
    hashint2extended(t.kind, int8xor(
        int8xor(
            hashbyteaextended(timestamptz_send(t.known_from), hashint4extended(t.lane, int8xor(t.event_seq, {key}))),
            int8xor(
                coalesce(hashbyteaextended(timestamptz_send(t.valid_from), 1), 1),
                coalesce(hashbyteaextended(timestamptz_send(t.valid_to), 2), 2)
            )
        ),
        int8xor(
            int8xor(coalesce(hashint2extended(t.reason, 3), 3), coalesce(uuid_hash_extended(t.answer_key, 4), 4)),
            int8xor(coalesce(hash_array_extended(t.versions, 5), 5), coalesce(hashint4extended(t.winner, 6), 6))
        )
    )) as h
from {schema}.timeline as t
where {which}
