-- The answers of one run: stretches of valid time as known at its cut.
create table chronofact.{adjudicated} (
    fact_no bigint not null,
    lane integer not null,
    tenant_id uuid not null,
    fact_id uuid not null,
    kind text not null,
    version_ids uuid[] not null,
    valid_during tstzrange not null
) partition by range (fact_no)
