-- Every version with its newest label; the labels before depend on how the log was cut into batches.
with newest as (
    select distinct on (n.fact_no, n.version_no)
        n.fact_no,
        n.version_no,
        n.event_seq,
        int8xor(
            int8xor(hashtextextended(n.lifecycle, 5), coalesce(hashbyteaextended(float8send(n.confidence), 6), 6)),
            int8xor(
                coalesce(uuid_hash_extended(n.supersedes_id, 7), 7),
                int8xor(
                    coalesce(uuid_hash_extended(n.superseded_by_id, 8), 8),
                    coalesce(uuid_hash_extended(n.merged_into_id, 9), 9)
                )
            )
        ) as h
    from {schema}.version_label as n
    where {newest}
    order by n.fact_no desc, n.version_no desc, n.event_seq desc -- as the index lies, backwards
)

select
    t.fact_no,
    hashbyteaextended(t.value_hash, hashbyteaextended(t.source_hash, uuid_hash_extended(t.version_id, int8xor(
        int8xor(
            hashbyteaextended(timestamptz_send(t.recorded_at), hashint4extended(
                t.version_no, int8xor(t.event_seq, {key})
            )),
            int8xor(
                coalesce(hashbyteaextended(timestamptz_send(t.valid_from), 1), 1),
                coalesce(hashbyteaextended(timestamptz_send(t.valid_to), 2), 2)
            )
        ),
        int8xor(int8xor(hashbyteaextended(json_send(t.value_json), 3), hashtextextended(t.source_id, 4)), case
            when l.event_seq > t.event_seq then l.h
            when l.fact_no is not null then ~l.h -- a label of no later event is none that a batch could leave
            else int8xor(
                int8xor(hashtextextended(t.lifecycle, 5), coalesce(hashbyteaextended(float8send(t.confidence), 6), 6)),
                int8xor(
                    coalesce(uuid_hash_extended(t.supersedes_id, 7), 7),
                    int8xor(
                        coalesce(uuid_hash_extended(t.superseded_by_id, 8), 8),
                        coalesce(uuid_hash_extended(t.merged_into_id, 9), 9)
                    )
                )
            )
        end)
    )))) as h
from {schema}.version as t
left join newest as l on t.fact_no = l.fact_no and t.version_no = l.version_no
where {which}
