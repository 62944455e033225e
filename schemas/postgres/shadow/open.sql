-- A window over two projections; none where one is open already.
insert into chronofact.shadow (old_projection, new_projection, until)
values (%(old)s, %(new)s, clock_timestamp() + %(window_s)s * interval '1 second')
on conflict (new_projection) where state = 'open' do nothing
returning shadow_id
