-- Whoever follows changed answers asks for each partition's newest releases.
create index released_event_in_order on chronofact.released_event (projection, topic_id, partition, number);
