-- One more call of the day, and the tokens that it may use; no line where either would be beyond its limit.
insert into chronofact.model_day as d (day, calls, tokens)
select
    (now() at time zone 'UTC')::date as day,
    1 as calls,
    %(tokens)s::bigint as tokens
where %(calls_max)s::bigint >= 1 and %(tokens)s::bigint <= %(tokens_max)s::bigint
on conflict (day) do update
    set
        calls = d.calls + 1,
        tokens = d.tokens + excluded.tokens
    where d.calls < %(calls_max)s::bigint and d.tokens + excluded.tokens <= %(tokens_max)s::bigint
returning d.day
