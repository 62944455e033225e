-- What events painted on lane 0, in order of valid time.
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
from unnest(%(fact_nos)s, %(event_seqs)s) as q (fact_no, event_seq)
inner join {schema}.event as e on q.fact_no = e.fact_no and q.event_seq = e.event_seq
inner join {schema}.timeline as t
    on
        q.fact_no = t.fact_no
        and t.lane = 0
        and e.recorded_at = t.known_from
        and q.event_seq = t.event_seq
