-- What differs.
insert into chronofact.verification_difference (
    verification_id, fact_id, tenant_id, subject_id, subject_label, scope_kind, scope_key, fact_key, aspect,
    left_lines, right_lines, left_said, right_said
) values (
    %(verification_id)s, %(fact_id)s, %(tenant_id)s, %(subject_id)s, %(subject_label)s, %(scope_kind)s, %(scope_key)s,
    %(fact_key)s, %(aspect)s, %(left_lines)s, %(right_lines)s, %(left_said)s, %(right_said)s
)
