-- Since when a projection serves, since when nobody is routed to it, and where its feeding has to wait.
alter table chronofact.projection
add column live_since timestamptz, -- the first switch to it, or its making as the first
add column left_at timestamptz, -- the last route left it; the rollback window counts from here
add column retired_at timestamptz,
add column retired_why text; -- where it was let go within the rollback window

alter table chronofact.checkpoint
add column stop_at bigint, -- no message at or behind it is applied
add column stop_until timestamptz, -- for so long; a hold that nobody renews is over by itself
add constraint checkpoint_hold_ends check ((stop_at is null) = (stop_until is null));
