-- Days and answers that nobody asks for any more.
with days as (
    delete from chronofact.model_day as d
    where d.day < (now() at time zone 'UTC')::date - 400
)

delete from chronofact.model_answer as a
where a.asked_at < now() - make_interval(days => %(days)s::integer)
