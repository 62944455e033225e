-- How often a model was asked about each of these memories, as far as its answers are kept.
select
    a.version_id,
    count(*) as calls
from chronofact.model_answer as a
where a.version_id = any(%(version_ids)s::uuid[])
group by a.version_id
