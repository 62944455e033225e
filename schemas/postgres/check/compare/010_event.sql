-- Events: hashes, ids, order, places.
select
    s.fact_no,
    'event' as relation,
    w.aspect,
    concat('event ', s.seq, ' ', s.event_id) as place,
    w.expected,
    w.found
from (
    select n.*
    from (
        select
            o.*,
            h.fact_id,
            lag(o.at) over of_fact as at_before,
            lag(o.kafka_offset) over of_fact as offset_before,
            case
                when o.kind = 'FactRevoked' then array_remove(array[o.v], null)
                when o.kind in ('FactSuperseded', 'ConflictResolved', 'RelationDeclared') then array[o.v, o.w]
                when o.kind = 'EventDropped' then '{}'
                when o.supersedes is null then array[o.v]
                else o.v || array(
                    select (e.one ->> 'version_id')::uuid
                    from json_array_elements(o.supersedes) with ordinality as e (one, n)
                    order by e.n
                )
            end as named_ids
        from said as o
        inner join head as h on o.fact_no = h.fact_no
        window of_fact as (partition by o.fact_no order by o.seq)
    ) as n
    where
        n.fact_id is null
        or n.is_derived is not true
        or not n.is_hashed
        or n.seq <> n.place
        or n.at < n.at_before
        or n.kafka_offset <= n.offset_before
        or n.kafka_partition <> n.fact_no >> 40
        or not n.is_claim_derived
        or n.version_ids is distinct from n.named_ids
) as s
cross join
    lateral (
        values
        (s.fact_id is null, 'fact_no', 'the number of a fact', null),
        (s.is_derived and not s.is_hashed, 'payload_hash', 'the SHA-256 of the payload', 'another'),
        (s.is_hashed and not s.is_derived and s.kind_meant is not null, 'event_type', s.kind_meant, s.kind),
        (
            s.is_hashed and s.is_derived is not true and s.kind_meant is null,
            'event_id', 'the hash of fact, type and payload', s.event_id::text
        ),
        (s.is_derived is not true and not s.is_hashed, 'canonical_payload', 'what was hashed', 'another'),
        (s.seq <> s.place, 'event_seq', s.place::text, s.seq::text),
        (s.at < s.at_before, 'recorded_at', 'no earlier than ' || pg_temp.spelled(s.at_before), pg_temp.spelled(s.at)),
        (
            s.kafka_offset <= s.offset_before,
            'kafka_offset', 'behind ' || s.offset_before, s.kafka_offset::text
        ),
        (
            s.kafka_partition <> s.fact_no >> 40,
            'kafka_partition', (s.fact_no >> 40)::text, s.kafka_partition::text
        ),
        (not s.is_claim_derived, 'version_id', 'the hash of the claim', s.v::text),
        (
            s.is_derived and s.version_ids is distinct from s.named_ids,
            'version_ids', s.named_ids::text, s.version_ids::text
        )
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
