-- A new rebuild, waiting for its turn.
insert into chronofact.rebuild (projection, rule, state, workers, compared_with, shadow_window_s)
values (%(projection)s, %(rule)s, 'planning', %(workers)s, %(compared_with)s, %(shadow_window_s)s)
returning rebuild_id
