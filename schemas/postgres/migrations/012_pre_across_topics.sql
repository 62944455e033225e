-- Verifications across topics: each side was looked at at a place of its own.
alter table chronofact.verification
add column right_topic_id uuid, -- null: both sides were looked at at the same place
add column right_next_offsets bigint[],
drop constraint verification_aspects_are_known,
add constraint verification_aspects_are_known check (aspects in ('all', 'said', 'across'));
