-- How far a run has come.
update chronofact.reconciliation_run as r
set
    facts = %(facts)s,
    facts_total = %(facts_total)s,
    events = %(events)s,
    messages = %(messages)s,
    messages_total = %(messages_total)s,
    divergences = %(divergences)s,
    bounded = %(bounded)s
where r.run_id = %(run_id)s
