-- Labels of versions that there are not, or after events that there are not.
select
    o.fact_no,
    'version_label' as relation,
    w.aspect,
    concat('version ', o.version_no, ', label of event ', o.event_seq) as place,
    w.expected,
    w.found
from {schema}.version_label as o
left join head as h on o.fact_no = h.fact_no
left join ver as v on o.fact_no = v.fact_no and o.version_no = v.no
cross join
    lateral (
        values
        (h.fact_id is null, 'fact_no', 'the number of a fact', null),
        (h.is_sound and v.no is null, 'version_no', 'a version of the fact', o.version_no::text),
        (
            h.is_sound and (o.event_seq <= v.seq or o.event_seq > h.events),
            'event_seq', concat('behind ', v.seq, ', no further than ', h.events), o.event_seq::text
        )
    ) as w (is_wrong, aspect, expected, found)
where o.fact_no between %(first)s and %(last)s and w.is_wrong
