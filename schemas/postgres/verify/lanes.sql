-- What was painted on the lanes of versions, in order.
select
    t.lane,
    t.event_seq,
    t.known_from::text as known_from,
    case
        when isfinite(t.valid_from) then (extract(epoch from t.valid_from) * 1000000)::bigint
        when t.valid_from = 'infinity' then 9223372036854775807 -- no line of ours has such a bound
        when t.valid_from = '-infinity' then -9223372036854775807
    end as valid_from,
    case
        when isfinite(t.valid_to) then (extract(epoch from t.valid_to) * 1000000)::bigint
        when t.valid_to = 'infinity' then 9223372036854775807 -- no line of ours has such a bound
        when t.valid_to = '-infinity' then -9223372036854775807
    end as valid_to,
    t.kind,
    t.reason,
    t.answer_key,
    t.versions,
    t.winner
from {schema}.timeline as t
where t.fact_no = %(fact_no)s and t.lane > 0
order by t.lane, t.event_seq
