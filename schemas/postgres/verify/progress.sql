-- How far it has come.
update chronofact.verification as v
set facts = %(facts)s, facts_total = %(facts_total)s, lines = %(lines)s, differences = %(differences)s
where v.verification_id = %(verification_id)s
