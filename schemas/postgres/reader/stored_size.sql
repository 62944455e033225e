-- How large the events of some facts are, before they are read.
select coalesce(sum(octet_length(e.canonical_payload)), 0)::bigint as size_bytes
from {schema}.event as e
where e.fact_no = any(%(fact_nos)s)
