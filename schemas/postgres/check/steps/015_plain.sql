-- Plain facts: of one event, which asserts an ACTIVE version of a single-valued fact and supersedes nothing. No rule of
-- covering, decisions or groups can speak of such a fact; all there is to say of it (semantics §3-§5) is "not yet
-- valid", then its value, then "ended". Whose lines in every table are just that is done with here; every other fact goes
-- through all the steps behind, which name what is wrong. Events, and what hangs on an event, are compared for all.
with one as (
    select
        s.fact_no,
        s.at,
        s.v as version_id,
        s.valid_from as start,
        s.valid_to as stop,
        s.value,
        s.source_id,
        s.source_hash,
        s.confidence,
        sha256(convert_to(s.value, 'UTF8')) as value_hash
    from said as s
    left join said as second on s.fact_no = second.fact_no and second.place = 2
    where
        s.place = 1
        and s.seq = 1
        and s.is_hashed
        and s.is_derived
        and s.kind = 'FactAsserted'
        and s.word = 'ACTIVE'
        and s.is_one
        and s.supersedes is null
        and s.valid_from < s.valid_to
        and second.fact_no is null
    offset 0 -- each digest once
),

candidate as materialized (
    select
        o.*,
        pg_temp.same_hash(o.value, o.value_hash) as same_hash
    from one as o
),

asserted as (
    select c.fact_no
    from candidate as c
    inner join {schema}.version as o on c.fact_no = o.fact_no
    where o.fact_no between %(first)s and %(last)s
    group by c.fact_no
    having
        count(*) = 1
        and bool_and(
            o.version_no = 1
            and o.version_id = c.version_id
            and o.value_json::text = c.value
            and o.value_hash = c.value_hash
            and coalesce(pg_temp.us(o.valid_from), pg_temp.neg()) = c.start
            and coalesce(pg_temp.us(o.valid_to), pg_temp.pos()) = c.stop
            and pg_temp.us(o.recorded_at) = c.at
            and o.event_seq = 1
            and o.source_id = c.source_id
            and encode(o.source_hash, 'hex') = c.source_hash
            and o.confidence is not distinct from c.confidence
            and o.lifecycle = 'ACTIVE'
            and o.supersedes_id is null
            and o.superseded_by_id is null
            and o.merged_into_id is null
        )
),

-- each line's part: 1 before it holds, 2 while it does, 4 after that, 8 none of them
line as (
    select
        c.fact_no,
        2 + case when c.start > pg_temp.neg() then 1 else 0 end
        + case when c.stop < pg_temp.pos() then 4 else 0 end as parts,
        case
            when o.lane <> 0 or o.event_seq <> 1 or pg_temp.us(o.known_from) <> c.at then 8
            when
                o.kind = 1 and o.reason is null and o.versions = '{1}' and o.winner = 1
                and uuid_send(o.answer_key) = substr(c.same_hash, 1, 16)
                and coalesce(pg_temp.us(o.valid_from), pg_temp.neg()) = c.start
                and coalesce(pg_temp.us(o.valid_to), pg_temp.pos()) = c.stop then 2
            when o.kind <> 0 or o.versions <> '{}' or o.winner is not null or o.answer_key is not null then 8
            when o.reason = 4 and o.valid_from is null and pg_temp.us(o.valid_to) = c.start then 1
            when o.reason = 2 and o.valid_to is null and pg_temp.us(o.valid_from) = c.stop then 4
            else 8
        end as part
    from candidate as c
    inner join {schema}.timeline as o on c.fact_no = o.fact_no
    where o.fact_no between %(first)s and %(last)s
),

drawn as (
    select
        l.fact_no,
        count(*) as lines
    from line as l
    group by l.fact_no, l.parts
    having bit_or(l.part) = l.parts and count(*) = bit_count(l.parts::bit(4))
),

elsewhere as (
    select o.fact_no
    from {schema}.conflict as o
    where o.fact_no between %(first)s and %(last)s
    union all
    select o.fact_no
    from {schema}.version_label as o
    where o.fact_no between %(first)s and %(last)s
),

head_of as (
    select
        c.fact_no,
        c.version_id,
        c.start,
        c.stop,
        f.fact_id,
        f.state_hash,
        case when %(with_ids)s then pg_temp.identity_digest(
            f.tenant_id, f.subject_id, f.scope_kind, f.scope_key, f.fact_key
        ) end as id_digest,
        case
            when c.start > pg_temp.neg() then sha256(convert_to(pg_temp.stretch_said(
                'unknown', '"not_yet_valid"', pg_temp.neg(), c.start, pg_temp.nothing_behind()
            ), 'UTF8'))
            else pg_temp.zero()
        end as before,
        sha256(convert_to(pg_temp.stretch_said(
            'value', 'null', c.start, c.stop,
            pg_temp.one_behind(c.same_hash, c.version_id)
        ), 'UTF8')) as meanwhile,
        case
            when c.stop < pg_temp.pos() then sha256(convert_to(pg_temp.stretch_said(
                'unknown', '"ended"', c.stop, pg_temp.pos(), pg_temp.nothing_behind()
            ), 'UTF8'))
            else pg_temp.zero()
        end as after
    from candidate as c
    inner join {schema}.fact as f on c.fact_no = f.fact_no
    inner join asserted as a on c.fact_no = a.fact_no
    inner join drawn as d on c.fact_no = d.fact_no
    left join elsewhere as e on c.fact_no = e.fact_no
    where
        f.fact_no between %(first)s and %(last)s
        and f.event_seq = 1
        and pg_temp.us(f.recorded_at) = c.at
        and f.versions = 1
        and f.lane_mode = 0
        and f.painted = d.lines
        and f.conflicts_open = 0
        and e.fact_no is null
    offset 0 -- each digest once
)

insert into plain
select
    h.fact_no,
    h.version_id,
    h.start,
    h.stop
from head_of as h
where
    (not %(with_ids)s or uuid_send(h.fact_id) = pg_temp.marked(h.id_digest))
    and h.state_hash = pg_temp.total(
        pg_temp.part_of(h.before, h.meanwhile, h.after, 0), pg_temp.part_of(h.before, h.meanwhile, h.after, 1),
        pg_temp.part_of(h.before, h.meanwhile, h.after, 2), pg_temp.part_of(h.before, h.meanwhile, h.after, 3),
        pg_temp.part_of(h.before, h.meanwhile, h.after, 4), pg_temp.part_of(h.before, h.meanwhile, h.after, 5),
        pg_temp.part_of(h.before, h.meanwhile, h.after, 6), pg_temp.part_of(h.before, h.meanwhile, h.after, 7)
    )
