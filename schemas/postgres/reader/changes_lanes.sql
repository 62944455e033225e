-- All lanes of a fact, from one event to another.
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
where t.fact_no = %(fact_no)s and t.event_seq between %(first_seq)s and %(last_seq)s
limit %(limit)s
