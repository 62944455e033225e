-- What every read goes through, asked for the answer at the cut.
select
    n.fact_no,
    'answer_at' as relation,
    w.aspect,
    'now, everything applied' as place,
    w.expected,
    w.found
from (
    select found.*
    from (
        select
            o.*,
            a.kind as kind_found,
            a.reason as reason_found,
            a.versions as versions_found,
            case
                when cardinality(a.versions) = 1 then hashint8extended(a.versions[1], 0)
                when a.kind > 0 then (
                    select bit_xor(hashint8extended(one.no, 0)) from unnest(a.versions) as one (no)
                )
            end as set_found,
            a.winner as winner_found,
            coalesce(pg_temp.us(a.valid_from), pg_temp.neg()) as from_found,
            coalesce(pg_temp.us(a.valid_to), pg_temp.pos()) as to_found
        from now_wanted as o
        cross join lateral {schema}.answer_at(o.fact_no, %(now_at)s, null) as a
        offset 0
    ) as found
    where
        found.kind_found is distinct from found.kind
        or (found.kind = 0 and found.reason_found is distinct from found.reason)
        or found.winner_found is distinct from found.winner
        or found.from_found <> found.valid_from
        or found.to_found <> found.valid_to
        or (found.kind > 0 and (
            cardinality(found.versions_found) <> found.versions
            or found.set_found is distinct from found.set_hash
        ))
) as n
cross join
    lateral (
        values
        (n.kind_found is distinct from n.kind, 'kind', pg_temp.kind_said(n.kind, n.reason), n.kind_found::text),
        (
            n.kind_found = 0 and n.kind = 0 and n.reason_found is distinct from n.reason,
            'reason', pg_temp.kind_said(n.kind, n.reason), pg_temp.kind_said(0, n.reason_found)
        ),
        (
            n.kind > 0 and n.kind = n.kind_found and (
                cardinality(n.versions_found) <> n.versions
                or n.set_found is distinct from n.set_hash
            ),
            'versions', n.versions::text, n.versions_found::text
        ),
        (
            n.kind_found = n.kind and n.winner_found is distinct from n.winner,
            'winner', n.winner::text, n.winner_found::text
        ),
        (n.from_found <> n.valid_from, 'valid_from', pg_temp.spelled(n.valid_from), pg_temp.spelled(n.from_found)),
        (n.to_found <> n.valid_to, 'valid_to', pg_temp.spelled(n.valid_to), pg_temp.spelled(n.to_found))
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
