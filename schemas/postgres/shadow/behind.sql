-- What lies behind the answers: how many pairs are in conflict, and what all adds up to.
select
    f.fact_no,
    json_build_object(
        'events', f.event_seq,
        'versions', f.versions,
        'recorded_at', f.recorded_at,
        'conflicts_open', f.conflicts_open,
        'conflicts_resolved', (
            select count(*) from {schema}.conflict as c where c.fact_no = f.fact_no and c.relation = 'RESOLVED'
        ),
        'state_hash', encode(f.state_hash, 'hex')
    ) as said
from {schema}.fact as f
where f.fact_no = any(%(fact_nos)s::bigint[])
