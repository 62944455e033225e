-- Become the owner of a partition; whoever was it before writes nothing more.
insert into chronofact.checkpoint as c (projection, topic_id, partition, next_offset, epoch)
values (%(projection)s, %(topic_id)s, %(partition)s, 0, 1)
on conflict on constraint checkpoint_pkey do update set epoch = c.epoch + 1
returning c.next_offset, c.epoch, (select p.rule from chronofact.projection as p where p.name = %(projection)s)
