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
language sql immutable parallel safe
return timestamptz '1970-01-01 00:00:00+00'
+ at / 1000000 * interval '1 second' + mod(at, 1000000) * interval '1 microsecond';

create function pg_temp.spelled(at bigint) returns text
language sql immutable parallel safe
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

-- The sum of digests modulo 2^256 from the sums of their parts.
create function pg_temp.total(parts bigint[]) returns text
language plpgsql immutable parallel safe
as $$
declare
    carried bigint := 0;
    hex text := '';
begin
    for n in reverse 8 .. 1 loop
        carried := carried + coalesce(parts[n], 0);
        hex := lpad(to_hex(carried & 4294967295), 8, '0') || hex;
        carried := carried >> 32;
    end loop;
    return hex;
end;
$$;

create function pg_temp.bound_said(at bigint) returns text
language sql immutable parallel safe
return case when at = pg_temp.neg() or at = pg_temp.pos() then 'null' else '"' || at || '"' end;
