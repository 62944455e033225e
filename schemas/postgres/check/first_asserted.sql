-- Those of some events that were the first to assert a version.
select n.place
from unnest(%(fact_nos)s::bigint[], %(event_seqs)s::bigint[]) with ordinality as n (fact_no, event_seq, place)
inner join {schema}.version as v on n.fact_no = v.fact_no and n.event_seq = v.event_seq
