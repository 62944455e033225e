-- All that a rebuild has made, but its own line. Its drops go too: whoever reads the log meets them again.
delete from chronofact.rebuild_part as p where p.rebuild_id = {rebuild_id};

delete from chronofact.rebuild_index as i where i.rebuild_id = {rebuild_id};

delete from chronofact.rebuild_aside as a where a.rebuild_id = {rebuild_id};

delete from chronofact.checkpoint as c where c.projection = {projection};

delete from chronofact.parked_event as e where e.projection = {projection};

delete from chronofact.released_event as e where e.projection = {projection};

delete from chronofact.dropped_event as d where d.projection = {projection};

delete from chronofact.projection as p where p.name = {projection};

drop schema if exists {schema} cascade;
