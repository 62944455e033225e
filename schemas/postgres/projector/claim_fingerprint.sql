-- Which fold fills the projection: that of whoever feeds it first. Nothing is changed once something was applied.
update chronofact.projection as p
set fingerprint = %(fingerprint)s
where
    p.name = %(projection)s
    and p.fingerprint is distinct from %(fingerprint)s
    and not exists (select from chronofact.checkpoint as c where c.projection = p.name and c.next_offset > 0)
