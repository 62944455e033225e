-- Every event of the chunk, its hashes looked at and its payload read.
insert into said
select
    e.fact_no,
    e.event_seq,
    e.place,
    e.event_id,
    e.event_type,
    pg_temp.us(e.recorded_at),
    e.version_ids,
    e.is_hashed,
    e.is_derived,
    coalesce(j.version_id, j.new_version_id, j.left_version_id),
    coalesce(j.old_version_id, j.right_version_id),
    coalesce(j.keep, j.newer_version_id),
    j.event_id,
    pg_temp.us(j.effective_at),
    pg_temp.us(j.decided_at),
    coalesce(j.lifecycle, j.mode, j.relation),
    j.cardinality = 'one',
    j.succession = 'automatic',
    j.valid_from_known,
    j.confidence,
    coalesce(pg_temp.us(j.valid_from::timestamptz), pg_temp.neg()),
    coalesce(pg_temp.us(j.valid_to::timestamptz), pg_temp.pos()),
    -- json_to_record gives JSON's null, which is a value like others, as SQL's
    case when e.event_type = 'FactAsserted' and e.is_derived then coalesce(j.value::text, 'null') end,
    j.source_id,
    j.source_hash,
    case when j.supersedes::text <> '[]' then j.supersedes end,
    j.decided_by,
    j.reason,
    j.llm_call_made,
    j.model,
    uuid_send(j.version_id) = pg_temp.marked(claim.digest),
    case when e.is_hashed and not e.is_derived then (
        select k.kind
        from unnest(array[
            'FactAsserted', 'FactActivated', 'FactSuperseded', 'FactEnded', 'FactRevoked', 'ConflictResolved',
            'RelationDeclared', 'RelationsChecked', 'EventDropped'
        ]) as k (kind)
        where uuid_send(e.event_id) = pg_temp.marked(sha256(
            '\x6576656e7400'::bytea || uuid_send(e.fact_id) || convert_to(k.kind, 'UTF8') || '\x00'::bytea
            || convert_to(e.canonical_payload, 'UTF8')
        ))
        limit 1
    ) end,
    e.kafka_partition,
    e.kafka_offset,
    j.pairs,
    j.decided,
    j.pending
from (
    select
        raw.fact_no,
        raw.event_seq,
        raw.place,
        raw.event_id,
        raw.event_type,
        raw.recorded_at,
        raw.version_ids,
        raw.canonical_payload,
        raw.fact_id,
        raw.kafka_partition,
        raw.kafka_offset,
        raw.digest = raw.payload_hash as is_hashed,
        case
            when %(with_ids)s then uuid_send(raw.event_id) = pg_temp.marked(raw.id_digest)
            else raw.digest = raw.payload_hash
        end as is_derived
    from (
        select
            o.fact_no,
            o.event_seq,
            o.place,
            o.event_id,
            o.event_type,
            o.recorded_at,
            o.version_ids,
            o.canonical_payload,
            o.payload_hash,
            o.kafka_partition,
            o.kafka_offset,
            f.fact_id,
            sha256(convert_to(o.canonical_payload, 'UTF8')) as digest,
            case when %(with_ids)s then sha256(
                '\x6576656e7400'::bytea || uuid_send(f.fact_id) || convert_to(o.event_type, 'UTF8') || '\x00'::bytea
                || convert_to(o.canonical_payload, 'UTF8')
            ) end as id_digest
        from (
            select
                stored.*,
                row_number() over (partition by stored.fact_no order by stored.event_seq) as place
            from {schema}.event as stored
            where stored.fact_no between %(first)s and %(last)s
        ) as o
        left join {schema}.fact as f on o.fact_no = f.fact_no and f.fact_no between %(first)s and %(last)s
        offset 0 -- each digest once
    ) as raw
    offset 0
) as e
cross join lateral json_to_record(case when e.is_derived then e.canonical_payload::json end) as j (
    cardinality text,
    confidence double precision,
    decided bigint,
    decided_at timestamptz,
    decided_by text,
    effective_at timestamptz,
    event_id uuid,
    keep uuid,
    left_version_id uuid,
    lifecycle text,
    llm_call_made boolean,
    mode text,
    model text,
    new_version_id uuid,
    newer_version_id uuid,
    old_version_id uuid,
    pairs bigint,
    pending bigint,
    reason text,
    relation text,
    right_version_id uuid,
    source_hash text,
    source_id text,
    succession text,
    supersedes json,
    valid_from text,
    valid_from_known boolean,
    valid_to text,
    value json,
    version_id uuid
)
cross join lateral (
    select case when e.event_type = 'FactAsserted' and %(with_ids)s then sha256(
        '\x76657273696f6e00'::bytea || convert_to(concat(
            '{"fact_id":"', replace(e.fact_id::text, '-', ''), '","source_hash":"', j.source_hash, '","source_id":',
            to_json(j.source_id), ',"valid_from":', coalesce(to_json(j.valid_from)::text, 'null'), ',"valid_to":',
            coalesce(to_json(j.valid_to)::text, 'null'), ',"value":', coalesce(j.value::text, 'null'), '}'
        ), 'UTF8')
    ) end as digest
    offset 0
) as claim
