-- One difference, found now; one that had settled or was otherwise is taken up again.
insert into chronofact.shadow_difference (
    shadow_id, fact_id, tenant_id, subject_id, scope_kind, scope_key, fact_key, subject_label, valid_during, stretches,
    class, reason, old_said, new_said, gone, come, old_hash, new_hash, judged_at, first_seen_at, last_seen_at
)
select
    %(shadow_id)s,
    f.fact_id,
    f.tenant_id,
    f.subject_id,
    f.scope_kind,
    f.scope_key,
    f.fact_key,
    f.subject_label,
    %(valid_during)s,
    %(stretches)s,
    %(class)s,
    %(reason)s,
    %(old_said)s,
    %(new_said)s,
    %(gone)s,
    %(come)s,
    %(old_hash)s,
    %(new_hash)s,
    n.at as judged_at,
    n.at as first_seen_at,
    n.at as last_seen_at
from {schema}.fact as f
cross join (values (%(now_at)s::timestamptz)) as n (at)
where f.fact_no = %(fact_no)s
on conflict on constraint shadow_difference_once do update set
    stretches = excluded.stretches,
    class = excluded.class,
    reason = excluded.reason,
    old_said = excluded.old_said,
    new_said = excluded.new_said,
    gone = excluded.gone,
    come = excluded.come,
    old_hash = excluded.old_hash,
    new_hash = excluded.new_hash,
    judged_at = excluded.judged_at,
    last_seen_at = excluded.last_seen_at,
    settled_at = null
