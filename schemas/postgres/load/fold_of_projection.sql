-- Which fold fills the projection.
update chronofact.projection as p
set fingerprint = %(fold)s
where p.name = %(projection)s
