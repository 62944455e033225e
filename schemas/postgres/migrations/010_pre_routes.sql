-- Every change of a route, in the order of commits, so that each can be taken back and accounted for.
create table chronofact.route_change (
    number bigint generated always as identity,
    tenant_id uuid, -- null: every tenant without a line of its own
    from_projection text not null, -- outlives both
    to_projection text not null,
    kind text not null,
    undoes bigint, -- the switch that a rollback takes back, once
    is_forced boolean not null default false,
    overridden text[] not null default '{}', -- codes of the refusals that were forced
    reason text,
    changed_by text not null,
    changed_at timestamptz not null default clock_timestamp(),
    constraint route_change_pkey primary key (number),
    constraint route_change_undone_once unique (undoes),
    constraint route_change_undoes_a_switch foreign key (undoes) references chronofact.route_change (number),
    constraint route_change_kind_is_known check (kind in ('switch', 'rollback')),
    constraint route_change_rollback_undoes check ((kind = 'rollback') = (undoes is not null)),
    constraint route_change_force_has_a_reason check (not is_forced or reason is not null)
);

create index route_change_of_tenant on chronofact.route_change (tenant_id, number);
