-- What the user's own table says, line by line of what was selected.
create temporary table theirs (
    line bigint not null,
    fact_id uuid not null,
    tenant_id uuid not null,
    subject_id uuid not null,
    subject text not null,
    scope_kind text not null,
    scope_key text not null,
    fact_key text not null,
    shown text not null, -- the value as JSON, cut where it is long
    value_keys bytea[] not null, -- what the value shares with those that are one by the rule, however it may be read
    part_keys bytea[] -- of the parts of an array, ascending
)
