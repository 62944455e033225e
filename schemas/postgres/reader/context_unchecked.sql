-- Of some versions of text memories those that nobody had held against the others, as known then.
select q.version_id
from unnest(%(version_ids)s::uuid[], %(fact_nos)s, %(system_as_ofs)s) as q (version_id, fact_no, system_as_of)
where
    not exists (
        select from {schema}.checked as c
        inner join {schema}.event as said on c.fact_no = said.fact_no and c.event_seq = said.event_seq
        where
            c.version_id = q.version_id
            and c.fact_no = q.fact_no
            and said.recorded_at <= coalesce(q.system_as_of, 'infinity')
    )
