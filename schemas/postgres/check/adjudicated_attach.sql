-- A share becomes part of the whole.
alter table chronofact.{adjudicated}
attach partition chronofact.{leaf} for values from ({low}) to ({high})
