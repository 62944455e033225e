-- What a verification found.
select
    d.number,
    d.fact_id,
    d.tenant_id,
    d.subject_id,
    d.subject_label,
    d.scope_kind,
    d.scope_key,
    d.fact_key,
    d.aspect,
    d.left_lines,
    d.right_lines,
    d.left_said,
    d.right_said
from chronofact.verification_difference as d
where d.verification_id = %(verification_id)s and d.number > %(after)s
order by d.number
limit %(limit)s
