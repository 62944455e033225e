-- The versions behind each stretch of lane 0 that several answer, as the state hash says them.
insert into member
select
    n.cell,
    array_agg(n.version_id order by n.version_id),
    case
        when count(*) > 16
            then
                concat(
                    '"crowd":"', encode(pg_temp.total(
                        sum(pg_temp.part(n.digest, 0))::bigint, sum(pg_temp.part(n.digest, 1))::bigint,
                        sum(pg_temp.part(n.digest, 2))::bigint, sum(pg_temp.part(n.digest, 3))::bigint,
                        sum(pg_temp.part(n.digest, 4))::bigint, sum(pg_temp.part(n.digest, 5))::bigint,
                        sum(pg_temp.part(n.digest, 6))::bigint, sum(pg_temp.part(n.digest, 7))::bigint
                    ), 'hex'), '","count":', count(*)
                )
        else concat(
            '"value_hashes":[', string_agg(distinct n.hash_said, ',' order by n.hash_said),
            '],"version_ids":[', string_agg(n.id_said, ',' order by n.version_id), ']'
        )
    end
from (
    select
        s.cell,
        v.version_id,
        '"' || encode(v.same_hash, 'hex') || '"' as hash_said,
        '"' || replace(v.version_id::text, '-', '') || '"' as id_said,
        case when s.versions > 16 then sha256(uuid_send(v.version_id) || v.same_hash) end as digest
    from stretch as s
    inner join code as o on s.cell = o.cell
    inner join ver as v on s.fact_no = v.fact_no and o.no = v.no
    where s.lane = 0 and s.versions > 1 and o.code = 0
) as n
group by n.cell
