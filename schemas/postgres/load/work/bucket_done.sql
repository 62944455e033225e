-- A bucket's checkpoint, in the transaction that writes the bucket.
update chronofact.rebuild_part as p
set
    buckets_done = p.buckets_done + 1,
    messages = p.messages + %(messages)s,
    events = p.events + %(events)s,
    facts = p.facts + %(facts)s,
    parked = p.parked + %(aside)s,
    fact_no_last = %(fact_no_last)s,
    state = case when p.buckets_done + 1 >= p.buckets then 'loaded' else 'folding' end,
    updated_at = clock_timestamp()
where p.rebuild_id = %(rebuild_id)s and p.partition = %(partition)s
