-- Stated edges between two versions of the fact, as said (semantics §3, Edges).
with taken as (
    select
        s.fact_no,
        s.named,
        min(s.seq) as seq
    from act as s
    where s.kind = 'FactRevoked' and s.named is not null
    group by s.fact_no, s.named
),

said_edge as (
    select
        s.fact_no,
        s.seq,
        s.event_id,
        s.v as new_id,
        s.w as old_id,
        s.effective_at,
        s.word as mode,
        false as is_wish
    from act as s
    where s.kind = 'FactSuperseded'
    union all
    select
        s.fact_no,
        s.seq,
        null,
        s.v,
        e.version_id,
        pg_temp.us(e.effective_at),
        e.mode,
        s.word = 'PROPOSED'
    from said as s
    cross join lateral json_to_recordset(s.supersedes) as e (version_id uuid, effective_at timestamptz, mode text)
    where s.kind = 'FactAsserted' and s.supersedes is not null
)

insert into stated
select
    e.fact_no,
    e.seq,
    e.event_id,
    src.no,
    dst.no,
    e.effective_at,
    e.mode,
    e.is_wish,
    t.seq
from said_edge as e
inner join ver as src on e.fact_no = src.fact_no and e.new_id = src.version_id
inner join ver as dst on e.fact_no = dst.fact_no and e.old_id = dst.version_id
left join taken as t on e.fact_no = t.fact_no and e.event_id = t.named
where e.new_id <> e.old_id
