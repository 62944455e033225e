-- Lane 0 of a fact before an event, newest first.
select
    t.fact_no,
    t.event_seq,
    t.lane,
    t.valid_from,
    t.valid_to,
    t.kind,
    t.reason,
    t.versions,
    t.winner
from {schema}.timeline as t
where t.fact_no = %(fact_no)s and t.lane = 0 and t.event_seq < %(event_seq)s
order by t.fact_no desc, t.lane desc, t.known_from desc, t.event_seq desc
limit %(limit)s
