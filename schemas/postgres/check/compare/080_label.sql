-- Labels: the newest of each version at the cut, every change after its event, the first one before the first change.
with change as (
    select
        o.*,
        row_number() over (partition by o.fact_no, o.version_no order by o.event_seq desc) as turn,
        min(o.event_seq) over (partition by o.fact_no, o.version_no) as first_seq
    from {schema}.version_label as o
    where o.fact_no between %(first)s and %(last)s
),

first_one as (
    select
        v.*,
        c.first_seq
    from {schema}.version as v
    left join change as c on v.fact_no = c.fact_no and v.version_no = c.version_no and c.turn = 1
    where v.fact_no between %(first)s and %(last)s
),

shown as (
    select
        c.fact_no,
        c.version_no,
        'version_label' as relation,
        c.event_seq as k_from,
        case c.turn when 1 then 9223372036854775807 else c.event_seq end as k_to,
        c.turn = 1 as is_newest,
        c.event_seq as place_seq,
        c.lifecycle,
        c.supersedes_id,
        c.superseded_by_id,
        c.merged_into_id,
        c.confidence
    from change as c
    union all
    select
        f.fact_no,
        f.version_no,
        'version',
        case when f.first_seq is null then 0 else f.event_seq end,
        coalesce(f.first_seq - 1, 9223372036854775807),
        f.first_seq is null,
        f.event_seq,
        f.lifecycle,
        f.supersedes_id,
        f.superseded_by_id,
        f.merged_into_id,
        f.confidence
    from first_one as f
),

beside as (
    select
        s.*,
        l.slice,
        l.k,
        l.lifecycle as lifecycle_wanted,
        l.supersedes_id as supersedes_wanted,
        l.merged_into_id as merged_wanted,
        l.confidence as confidence_wanted,
        l.last_cell,
        at.is_last
    from shown as s
    inner join label as l on s.fact_no = l.fact_no and s.version_no = l.no
    inner join slice as at on l.slice = at.slice
    where
        case
            when s.is_newest and at.is_last then true
            when s.relation = 'version_label' then l.k = s.k_from
            else not s.is_newest and l.k between s.k_from and s.k_to
        end
),

covering as (
    select
        b.slice,
        b.version_no,
        b.relation,
        bool_or(v.cell is not null or (
            not c.is_tangled and n.is_able and n.is_automatic and n.auto_from <= c.t and n.auto_to > c.t
            and n.start > m.start
        )) as does_cover
    from beside as b
    inner join cell as c on b.last_cell = c.cell
    inner join ver as w on b.fact_no = w.fact_no and b.superseded_by_id = w.version_id
    inner join standing as n on b.slice = n.slice and w.no = n.no
    inner join standing as m on b.slice = m.slice and b.version_no = m.no
    left join cover as v on b.last_cell = v.cell and w.no = v.n and b.version_no = v.m
    group by b.slice, b.version_no, b.relation
),

judged as (
    select
        b.*,
        array_remove(array[
            case when b.lifecycle <> b.lifecycle_wanted then 'lifecycle' end,
            case when b.supersedes_id is distinct from b.supersedes_wanted then 'supersedes_id' end,
            case when b.merged_into_id is distinct from b.merged_wanted then 'merged_into_id' end,
            case when b.confidence is distinct from b.confidence_wanted then 'confidence' end,
            case
                when
                    (b.lifecycle_wanted = 'SUPERSEDED') is distinct from (coalesce(c.does_cover, false))
                    or (b.lifecycle_wanted <> 'SUPERSEDED' and b.superseded_by_id is not null) then 'superseded_by_id'
            end
        ], null) as wrong
    from beside as b
    left join covering as c on b.slice = c.slice and b.version_no = c.version_no and b.relation = c.relation
    where
        not b.is_newest
        or b.lifecycle <> b.lifecycle_wanted
        or b.supersedes_id is distinct from b.supersedes_wanted
        or b.merged_into_id is distinct from b.merged_wanted
        or b.confidence is distinct from b.confidence_wanted
        or (b.lifecycle_wanted = 'SUPERSEDED') is distinct from coalesce(c.does_cover, false)
        or (b.lifecycle_wanted <> 'SUPERSEDED' and b.superseded_by_id is not null)
),

-- a first label is of some batch's end before the first change: one that fits is enough
fitting as (
    select
        j.*,
        min(cardinality(j.wrong)) over (partition by j.fact_no, j.version_no, j.relation, j.place_seq) as least_wrong,
        count(*) over (partition by j.fact_no, j.version_no, j.relation, j.place_seq) as looked_at,
        row_number() over (
            partition by j.fact_no, j.version_no, j.relation, j.place_seq order by cardinality(j.wrong), j.k desc
        ) as turn
    from judged as j
)

select
    f.fact_no,
    f.relation,
    w.aspect,
    concat('version ', f.version_no, ', label of event ', f.place_seq, ', as of event ', f.k) as place,
    case w.aspect
        when 'lifecycle' then f.lifecycle_wanted
        when 'supersedes_id' then f.supersedes_wanted::text
        when 'merged_into_id' then f.merged_wanted::text
        when 'confidence' then f.confidence_wanted::text
        else case f.lifecycle_wanted when 'SUPERSEDED' then 'one that covers it' end
    end as expected,
    case w.aspect
        when 'lifecycle' then f.lifecycle
        when 'supersedes_id' then f.supersedes_id::text
        when 'merged_into_id' then f.merged_into_id::text
        when 'confidence' then f.confidence::text
        else f.superseded_by_id::text
    end as found
from fitting as f
cross join lateral unnest(f.wrong) as w (aspect)
where
    f.least_wrong > 0
    and f.turn = 1
    and (f.relation = 'version_label' or f.is_newest or f.looked_at = f.k_to - f.k_from + 1)
