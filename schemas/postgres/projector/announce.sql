-- Wakes readers that wait for a position, once the batch is committed.
select pg_notify('chronofact_applied', %(projection)s)
