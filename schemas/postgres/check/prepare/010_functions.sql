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

create function pg_temp.one_behind(value_hash bytea, version_id uuid) returns text
language sql immutable parallel safe
return '"value_hashes":["' || encode(value_hash, 'hex') || '"],"version_ids":["'
|| replace(version_id::text, '-', '') || '"]';

-- What a fact's id is the hash of.
create function pg_temp.identity_digest(
    tenant_id uuid, subject_id uuid, scope_kind text, scope_key text, fact_key text
) returns bytea
language sql stable parallel safe
return sha256('\x6661637400'::bytea || convert_to(
    '["' || tenant_id::text || '","' || subject_id::text || '",' || to_json(scope_kind)::text || ','
    || to_json(scope_key)::text || ',' || to_json(fact_key)::text || ']', 'UTF8'
));
