-- Of each table: how many lines, and the sum of their hashes.
with k as materialized ({keys})

{totals}
