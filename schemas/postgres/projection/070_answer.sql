-- resolve (semantics §4) in numbers: the one implementation behind every read.
-- kind: 0 unknown, 1 value, 2 conflict, 3 values. reason: as in timeline, and 8 not_yet_known.
-- versions: the numbers behind the answer; winner: of a value. valid_from, valid_to: how long the answer is the same.
create function {schema}.answer_at(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    out kind smallint,
    out reason smallint,
    out versions integer[],
    out winner integer,
    out valid_from timestamptz,
    out valid_to timestamptz
)
returns setof record
language sql stable parallel safe rows 1
as $$
    select
        coalesce(many.kind, a.kind),
        case when many.kind is null then a.reason else many.reason end,
        case when many.kind is null then a.versions else many.versions end,
        coalesce(a.winner, many.winner),
        case
            when run.found then run.valid_from
            when many.kind is null or many.kind = 1 then a.shown_from
            else many.valid_from
        end,
        case
            when run.found then run.valid_to
            when many.kind is null or many.kind = 1 then a.shown_to
            else many.valid_to
        end
    from (select answer_at.fact_no, answer_at.valid_at, answer_at.system_as_of) as q
    left join lateral {schema}.shown_at(q.fact_no, 0, q.valid_at, q.system_as_of) as a on true
    -- "offset 0" keeps each condition a gate before its function, not a filter behind it
    left join lateral (
        select m.*
        from {schema}.crowd_at(q.fact_no, q.valid_at, q.system_as_of, a.kind) as m
        where
            q.fact_no is not null
            and (a.kind is null or a.kind = 3 or (a.kind > 0 and a.versions is null))
        offset 0
    ) as many on true
    left join lateral (
        select t.kind, t.reason, t.answer_key, t.versions
        from {schema}.top_at(q.fact_no, 0, a.shown_from - interval '1 microsecond', q.system_as_of) as t
        where a.shown_from is not null and (many.kind is null or many.kind = 1)
        offset 0
    ) as l on true
    left join lateral (
        select a.next_kind as kind, a.next_reason as reason, a.next_key as answer_key, a.next_versions as versions
        where a.next_kind is not null
        union all
        select t.kind, t.reason, t.answer_key, t.versions
        from {schema}.top_at(q.fact_no, 0, a.shown_to, q.system_as_of) as t
        where a.next_kind is null and a.shown_to is not null and (many.kind is null or many.kind = 1)
    ) as r on true
    cross join lateral (
        select
            {schema}.may_go_on(a.kind, a.reason, a.answer_key, l.kind, l.reason, l.answer_key, l.versions) as before,
            {schema}.may_go_on(a.kind, a.reason, a.answer_key, r.kind, r.reason, r.answer_key, r.versions) as after
    ) as goes_on
    left join lateral (
        select true as found, around.valid_from, around.valid_to
        from {schema}.run_around(
            q.fact_no, q.valid_at, q.system_as_of, a.kind, a.reason, a.answer_key,
            a.shown_from, a.shown_to, goes_on.before, goes_on.after
        ) as around
        where goes_on.before or goes_on.after
        offset 0
    ) as run on true
$$;
