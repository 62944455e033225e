-- Of each table of a range the same, where the two sides number their facts otherwise: each line is hashed with a
-- number made out of its fact's id, which lies in an array at the place of the fact's number.
with k as materialized ( -- noqa: ST03
    select
        array_agg(coalesce(uuid_hash_extended(h.fact_id, 0), 0) order by h.fact_no) as keys,
        count(h.fact_id) as lines,
        sum(h.h) as hash
    from ({heads}) as h
)

select each.* from ({totals}) as each
