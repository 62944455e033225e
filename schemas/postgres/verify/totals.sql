-- Of each table of a range: how many lines, and the sum of their hashes. Each line is hashed with a number made out of
-- its fact's id, which lies in an array at the place of the fact's number.
with k as materialized ( -- noqa: ST03
    select
        array_agg(coalesce(uuid_hash_extended(h.fact_id, 0), 0) order by h.fact_no) as keys,
        array_agg(coalesce(h.event_seq, 0) order by h.fact_no) as events,
        array_agg(coalesce(h.versions, 0) order by h.fact_no) as versions,
        count(h.fact_id) as lines,
        sum(h.h) as hash
    from ({heads}) as h
)

select each.* from ({totals}) as each
