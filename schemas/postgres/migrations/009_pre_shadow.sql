-- Shadow comparison: two projections beside one another over a window of live traffic, and where their answers differ.
create table chronofact.shadow (
    shadow_id bigint generated always as identity,
    old_projection text not null,
    new_projection text not null,
    state text not null default 'open',
    started_at timestamptz not null default clock_timestamp(),
    until timestamptz not null,
    ended_at timestamptz,
    sweeps bigint not null default 0,
    last_compared_at timestamptz, -- when the last sweep took its snapshot
    last_sweep_s double precision,
    facts bigint not null default 0, -- of the last sweep, on either side
    facts_in_flight bigint not null default 0, -- one side had not come as far; looked at again by the next sweep
    facts_differing bigint not null default 0,
    facts_beyond bigint not null default 0, -- of those, neither judged nor kept: they count as unknown
    failure text, -- why it ended before its window was over
    constraint shadow_pkey primary key (shadow_id),
    constraint shadow_of_projection foreign key (new_projection)
    references chronofact.projection (name) on delete cascade, -- a name may come again
    constraint shadow_of_two check (old_projection <> new_projection),
    constraint shadow_state_is_known check (state in ('open', 'over'))
);

create unique index shadow_open_once on chronofact.shadow (new_projection) where state = 'open';

-- One stretch of valid time, as known now, in which a fact's answers differ.
create table chronofact.shadow_difference (
    shadow_id bigint not null,
    number bigint generated always as identity,
    fact_id uuid not null,
    tenant_id uuid not null,
    subject_id uuid not null,
    scope_kind text not null,
    scope_key text not null,
    fact_key text not null,
    subject_label text,
    valid_during tstzrange, -- null: the answers are the same, and what lies behind them is not
    stretches integer not null default 1, -- how many this line stands for; more than one: from the first on
    class text not null,
    reason text not null,
    old_said json not null,
    new_said json not null,
    gone bytea[] not null, -- hashes of values that only the old side answers
    come bytea[] not null, -- and of those that only the new side does
    old_hash bytea, -- the fact's state hash; null: it is not there
    new_hash bytea,
    judged_at timestamptz not null,
    first_seen_at timestamptz not null,
    last_seen_at timestamptz not null,
    settled_at timestamptz, -- when a sweep found it gone
    constraint shadow_difference_pkey primary key (shadow_id, number),
    constraint shadow_difference_of_shadow foreign key (shadow_id)
    references chronofact.shadow (shadow_id) on delete cascade,
    constraint shadow_difference_once unique nulls not distinct (shadow_id, fact_id, valid_during),
    constraint shadow_difference_class_is_known check (
        class in ('correcting', 'discovered_conflict', 'scope_change', 'unknown')
    )
) with (fillfactor = 80);

create index shadow_difference_of_key
on chronofact.shadow_difference (shadow_id, tenant_id, subject_id, fact_key) where settled_at is null;

create index shadow_difference_unknown
on chronofact.shadow_difference (shadow_id) where class = 'unknown' and settled_at is null;

-- What a switch asks of a projection: the newest comparison of it, whether its window is over, and how many differences
-- nobody can explain, whether or not it is.
create view chronofact.shadow_standing as
select
    s.new_projection as projection,
    s.shadow_id,
    s.old_projection,
    s.state,
    s.until,
    s.last_compared_at,
    s.failure,
    s.state = 'over' and s.failure is null as is_over,
    s.facts_beyond + (
        select coalesce(sum(d.stretches), 0)
        from chronofact.shadow_difference as d
        where d.shadow_id = s.shadow_id and d.class = 'unknown' and d.settled_at is null
    )::bigint as unknown
from chronofact.shadow as s
where s.shadow_id = (
    select max(other.shadow_id) from chronofact.shadow as other where other.new_projection = s.new_projection
);
