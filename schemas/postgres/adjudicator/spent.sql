-- What the day has cost so far.
select
    coalesce(sum(d.calls), 0)::bigint as calls,
    coalesce(sum(d.tokens), 0)::bigint as tokens
from chronofact.model_day as d
where d.day = (now() at time zone 'UTC')::date
