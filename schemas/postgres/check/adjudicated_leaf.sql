-- A worker's share of them; it is attached once it is under its constraint.
create table chronofact.{leaf} (like chronofact.{adjudicated})
