-- Heads: what a fact is, how far it has come, and the hash of its state.
with last_event as (
    select
        s.fact_no,
        s.at
    from said as s
    inner join head as h on s.fact_no = h.fact_no and s.place = h.events
    where not h.is_plain
),

derived as (
    select
        s.fact_no,
        bool_or(s.is_derived) as is_derived
    from said as s
    group by s.fact_no
),

judged as (
    select
        r.fact_no,
        h.versions <= %(rivals_max)s or h.versions is null as is_judged
    from regime as r
    inner join head as h on r.fact_no = h.fact_no
    where r.is_last and r.instants_max is null
),

opened as (
    select
        p.fact_no,
        count(*) as pairs
    from pair as p
    where p.relation = 'OPEN'
    group by p.fact_no
),

lines as (
    select
        p.fact_no,
        bool_or(p.lane > 0) as has_lanes,
        count(*) filter (where p.lane = 0) as painted
    from painted as p
    group by p.fact_no
),

since_whole as (
    select
        e.fact_no,
        e.after
    from (
        select
            p.fact_no,
            p.seq,
            min(p.valid_from) as low,
            max(p.valid_to) as high,
            sum(count(*)) over (
                partition by p.fact_no order by p.seq desc rows between unbounded preceding and 1 preceding
            ) as after
        from painted as p
        where p.lane = 0 and p.fact_no in (select l.fact_no from lines as l where l.painted > 64)
        group by p.fact_no, p.seq
    ) as e
    where e.low = pg_temp.neg() and e.high = pg_temp.pos()
),

fitting as (
    select
        s.fact_no,
        array_agg(coalesce(s.after, 0)) as painted
    from since_whole as s
    group by s.fact_no
),

stored as (
    select
        f.*,
        h.events,
        h.is_sound,
        h.versions as versions_wanted,
        l.at as last_at,
        d.is_derived,
        j.is_judged,
        coalesce(o.pairs, 0) as open_wanted,
        coalesce(n.has_lanes, false) as has_lanes,
        coalesce(n.painted, 0) as lines_painted,
        t.painted as painted_fitting,
        st.digest as state_wanted,
        case when %(with_ids)s then pg_temp.identity_digest(
            f.tenant_id, f.subject_id, f.scope_kind, f.scope_key, f.fact_key
        ) end as id_digest
    from {schema}.fact as f
    inner join head as h on f.fact_no = h.fact_no
    left join last_event as l on f.fact_no = l.fact_no
    left join derived as d on f.fact_no = d.fact_no
    left join judged as j on f.fact_no = j.fact_no
    left join opened as o on f.fact_no = o.fact_no
    left join lines as n on f.fact_no = n.fact_no
    left join fitting as t on f.fact_no = t.fact_no
    left join state as st on f.fact_no = st.fact_no
    where f.fact_no between %(first)s and %(last)s and not h.is_plain
    offset 0 -- each digest once
),

differing as (
    select s.*
    from stored as s
    where
        (%(with_ids)s and uuid_send(s.fact_id) <> pg_temp.marked(s.id_digest))
        or s.events = 0
        or s.events <> s.event_seq
        or s.last_at <> pg_temp.us(s.recorded_at)
        or coalesce(s.versions_wanted, 0) <> s.versions
        or s.has_lanes <> (s.lane_mode = 1)
        or s.painted <> s.lines_painted
        or s.open_wanted <> s.conflicts_open
        or s.state_wanted <> s.state_hash
)

select
    s.fact_no,
    'fact' as relation,
    w.aspect,
    'head' as place,
    w.expected,
    w.found
from differing as s
cross join
    lateral (
        values
        (
            %(with_ids)s and uuid_send(s.fact_id) <> pg_temp.marked(s.id_digest),
            case when s.is_derived then 'identity' else 'fact_id' end,
            case when s.is_derived then s.fact_id::text else encode(pg_temp.marked(s.id_digest), 'hex') end,
            case when s.is_derived then encode(pg_temp.marked(s.id_digest), 'hex') else s.fact_id::text end
        ),
        (s.events = 0, 'missing', 'events of the fact', null),
        (s.events <> s.event_seq, 'event_seq', s.events::text, s.event_seq::text),
        (
            s.last_at <> pg_temp.us(s.recorded_at),
            'recorded_at', pg_temp.spelled(s.last_at), pg_temp.spelled(pg_temp.us(s.recorded_at))
        ),
        (
            s.is_sound and coalesce(s.versions_wanted, 0) <> s.versions,
            'versions', coalesce(s.versions_wanted, 0)::text, s.versions::text
        ),
        (
            s.is_sound and s.has_lanes <> (s.lane_mode = 1),
            'lane_mode', s.has_lanes::integer::text, s.lane_mode::text
        ),
        (
            s.is_sound and case
                when s.lines_painted <= 64 then s.painted <> s.lines_painted
                else s.painted <> s.lines_painted and s.painted <> all(coalesce(s.painted_fitting, '{}'))
            end,
            'painted', s.lines_painted::text, s.painted::text
        ),
        (s.is_judged and s.open_wanted <> s.conflicts_open, 'conflicts_open', s.open_wanted::text, s.conflicts_open::text),
        (
            s.is_judged and s.state_wanted <> s.state_hash,
            'state_hash', encode(s.state_wanted, 'hex'), encode(s.state_hash, 'hex')
        )
    ) as w (is_wrong, aspect, expected, found)
where w.is_wrong
