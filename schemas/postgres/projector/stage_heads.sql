-- Where a batch's heads wait for the one statement that moves them.
create temporary table if not exists head_staged (
    fact_no bigint not null,
    event_seq bigint not null,
    recorded_at timestamptz not null,
    versions integer not null,
    lane_mode smallint not null,
    painted integer not null,
    conflicts_open bigint not null,
    state_hash bytea not null,
    subject_label text
) on commit delete rows
