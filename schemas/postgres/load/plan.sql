-- What is to be loaded: fixed once, by whoever has the rebuild.
update chronofact.rebuild as r
set topic_id = %(topic_id)s, fingerprint = %(fingerprint)s, targets = %(targets)s
where r.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s and r.targets is null
