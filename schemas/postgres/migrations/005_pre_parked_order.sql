-- A fact's parked messages in their order, however many there are.
create index parked_event_in_order on chronofact.parked_event (projection, fact_id, kafka_offset);

drop index chronofact.parked_event_by_fact;
