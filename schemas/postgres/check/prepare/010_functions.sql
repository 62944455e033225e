-- Instants as microseconds since 1970, open bounds as the ends of bigint: what every step reckons with.
create function pg_temp.us(at timestamptz) returns bigint
language sql immutable parallel safe
return timestamptz_send(at)::bigint + 946684800000000; -- sent as microseconds since 2000

create function pg_temp.neg() returns bigint
language sql immutable parallel safe
return (-9223372036854775808)::bigint;

create function pg_temp.pos() returns bigint
language sql immutable parallel safe
return 9223372036854775807;

-- Back to an instant; in two steps, since a factor of an interval is a double.
create function pg_temp.instant(at bigint) returns timestamptz
language sql stable parallel safe
return timestamptz '1970-01-01 00:00:00+00'
+ at / 1000000 * interval '1 second' + mod(at, 1000000) * interval '1 microsecond';

create function pg_temp.spelled(at bigint) returns text
language sql stable parallel safe
return case at
    when pg_temp.neg() then '-infinity'
    when pg_temp.pos() then 'infinity'
    else to_char(pg_temp.instant(at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
end;

-- The first 16 bytes of a digest, marked as a UUID of version 8.
create function pg_temp.marked(digest bytea) returns bytea
language sql immutable parallel safe
return set_byte(
    set_byte(substr(digest, 1, 16), 6, (get_byte(digest, 6) & 15) | 128), 8, (get_byte(digest, 8) & 63) | 128
);

-- What is shown of a text that may tell what a fact says.
create function pg_temp.veiled(said text) returns text
language sql immutable parallel safe
return 'sha256:' || left(encode(sha256(convert_to(said, 'UTF8')), 'hex'), 16);

create function pg_temp.kind_said(kind integer, reason integer) returns text
language sql immutable parallel safe
return case
    when kind = 0
        then
            'unknown ' || coalesce((array[
                'excluded', 'ended', 'superseded', 'not_yet_valid', 'revoked', 'proposed_only', 'never_recorded', 'not_yet_known'
            ])[reason], 'for no reason')
    else (array['value', 'conflict', 'values'])[kind]
end;

-- A 32-bit part of a digest, numbered from 0 at its most significant end; doubles add up exactly to two million of them.
create function pg_temp.part(digest bytea, n integer) returns double precision
language sql immutable parallel safe
return (substr(digest, 4 * n + 1, 4)::integer::bigint & 4294967295)::double precision;

-- That part of three digests added up.
create function pg_temp.part_of(a bytea, b bytea, c bytea, n integer) returns bigint
language sql immutable parallel safe
return (pg_temp.part(a, n) + pg_temp.part(b, n) + pg_temp.part(c, n))::bigint;

create function pg_temp.zero() returns bytea
language sql immutable parallel safe
return '\x0000000000000000000000000000000000000000000000000000000000000000'::bytea;

-- The sum of digests modulo 2^256 from the sums of their parts.
create function pg_temp.total(
    p0 bigint, p1 bigint, p2 bigint, p3 bigint, p4 bigint, p5 bigint, p6 bigint, p7 bigint
) returns bytea
language plpgsql immutable parallel safe
as $$
begin
    p6 := p6 + (p7 >> 32);
    p5 := p5 + (p6 >> 32);
    p4 := p4 + (p5 >> 32);
    p3 := p3 + (p4 >> 32);
    p2 := p2 + (p3 >> 32);
    p1 := p1 + (p2 >> 32);
    p0 := p0 + (p1 >> 32);
    return
        int8send((p0 << 32) | (p1 & 4294967295)) || int8send((p2 << 32) | (p3 & 4294967295))
        || int8send((p4 << 32) | (p5 & 4294967295)) || int8send((p6 << 32) | (p7 & 4294967295));
end;
$$;

create function pg_temp.bound_said(at bigint) returns text
language sql immutable parallel safe
return case when at = pg_temp.neg() or at = pg_temp.pos() then 'null' else '"' || at::text || '"' end;

-- A stretch of lane 0 as the state hash says it (semantics §5); what says "stable" here is inlined, and so costs no call.
create function pg_temp.stretch_said(
    kind text, reason text, valid_from bigint, valid_to bigint, behind text
) returns text
language sql stable parallel safe
return '{"kind":"' || kind || '","reason":' || reason || ',"valid_from":' || pg_temp.bound_said(valid_from)
|| ',"valid_to":' || pg_temp.bound_said(valid_to) || ',' || behind || '}';

create function pg_temp.nothing_behind() returns text
language sql immutable parallel safe
return '"value_hashes":[],"version_ids":[]';

create function pg_temp.one_behind(same_hash bytea, version_id uuid) returns text
language sql immutable parallel safe
return '"value_hashes":["' || encode(same_hash, 'hex') || '"],"version_ids":["'
|| replace(version_id::text, '-', '') || '"]';

-- What values share that are one by the rule: by rule 1 their hash, by rule 2 also that of their NFC. It is Unicode 14.0's:
-- with a character that composes or is ordered since later versions only, a value is compared by its bytes.
create function pg_temp.same_hash(value text, value_hash bytea) returns bytea
language sql stable parallel safe
return case
    when {rule} = 1 or octet_length(value) = char_length(value) or value is nfc normalized then value_hash
    when value ~ (
        E'[\u05c8-\u05c9\u0897\u0b53-\u0b54\u0cf3\u0ece\u1acf-\u1af0\U000105c9-\U000105e4'
        || E'\U00010d69-\U00010d6d\U00010ecb-\U00010eff\U00011241\U00011383-\U000113e2\U00011b60-\U00011b67'
        || E'\U00011df0\U00011f00-\U00011f03\U00011f34-\U00011f5a\U00013440-\U00013455\U0001611e-\U0001612f'
        || E'\U00016d67-\U00016d6a\U0001d127-\U0001d128\U0001d250-\U0001d281\U0001e08f\U0001e4ec-\U0001e4ef'
        || E'\U0001e5ee-\U0001e5ef\U0001e6e3-\U0001e6f5]'
    ) then value_hash
    else sha256(convert_to(normalize(value, nfc), 'UTF8'))
end;

-- What a fact's id is the hash of.
create function pg_temp.identity_digest(
    tenant_id uuid, subject_id uuid, scope_kind text, scope_key text, fact_key text
) returns bytea
language sql stable parallel safe
return sha256('\x6661637400'::bytea || convert_to(
    '["' || tenant_id::text || '","' || subject_id::text || '",' || to_json(scope_kind)::text || ','
    || to_json(scope_key)::text || ',' || to_json(fact_key)::text || ']', 'UTF8'
));
