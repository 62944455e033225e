-- Become the owner of a partition; whoever was it before writes nothing more, nor does an owner of a database that was
-- lost: its epochs began with an earlier second.
insert into chronofact.checkpoint as c (projection, topic_id, partition, next_offset, epoch)
values (%(projection)s, %(topic_id)s, %(partition)s, 0, extract(epoch from clock_timestamp())::bigint)
on conflict on constraint checkpoint_pkey do update set epoch = greatest(c.epoch + 1, excluded.epoch)
returning
    new.next_offset,
    coalesce(old.epoch, 0) as epoch_before,
    new.epoch,
    (select p.rule from chronofact.projection as p where p.name = %(projection)s) as rule
