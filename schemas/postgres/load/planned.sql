-- What is to be loaded; null before it is fixed.
select
    r.topic_id,
    r.fingerprint,
    r.targets,
    r.rule,
    r.projection
from chronofact.rebuild as r
where r.rebuild_id = %(rebuild_id)s and r.epoch = %(epoch)s
