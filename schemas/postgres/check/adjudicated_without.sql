-- What contradicts itself is told as divergence and kept out.
delete from chronofact.{leaf} as a
where a.fact_no = any(%(fact_nos)s::bigint[])
