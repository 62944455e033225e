-- What was painted on the lanes of versions, in order.
select
    t.lane,
    t.event_seq,
    t.known_from::text as known_from,
    (extract(epoch from t.valid_from) * 1000000)::bigint as valid_from,
    (extract(epoch from t.valid_to) * 1000000)::bigint as valid_to,
    t.kind,
    t.reason,
    t.answer_key,
    t.versions,
    t.winner
from {schema}.timeline as t
where t.fact_no = %(fact_no)s and t.lane > 0
order by t.lane, t.event_seq
