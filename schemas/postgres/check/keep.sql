-- One divergence.
insert into chronofact.divergence (run_id, fact_no, fact_id, relation, aspect, place, expected, found)
values (%s, %s, %s, %s, %s, %s, %s, %s)
