-- What a chunk is worked out in; every step fills one of them, and they are emptied before the next chunk.
create temporary table head (
    fact_no bigint,
    fact_id uuid, -- null: lines without a fact
    tenant_id uuid,
    events bigint, -- as counted
    versions integer,
    is_sound boolean not null, -- every event is there and says what was hashed
    is_plain boolean not null, -- judged as a plain one, and done with
    is_heavy boolean not null default false -- too many versions for every instant
);

create temporary table said (
    fact_no bigint,
    seq bigint,
    place bigint, -- by row number
    event_id uuid,
    kind text,
    at bigint,
    version_ids uuid[],
    is_hashed boolean, -- the payload is what payload_hash says
    is_derived boolean, -- and the id is its
    v uuid, -- version, new version or left
    w uuid, -- old version or right
    keep uuid, -- or newer
    named uuid, -- the event that a revocation names
    effective_at bigint,
    decided_at bigint,
    word text, -- lifecycle, mode, relation
    is_one boolean,
    is_automatic boolean,
    is_known boolean, -- valid_from_known
    confidence double precision,
    valid_from bigint,
    valid_to bigint,
    value text,
    source_id text,
    source_hash text,
    supersedes json,
    decided_by text,
    reason text,
    llm_call_made boolean,
    model text,
    is_claim_derived boolean,
    kind_meant text, -- where the id is that of another kind
    kafka_partition integer,
    kafka_offset bigint,
    pairs bigint, -- of a check of a memory
    decided bigint,
    pending bigint
);

create temporary table act (like said);

-- Facts of one event whose lines are as there is but one way to draw them.
create temporary table plain (
    fact_no bigint,
    version_id uuid,
    start bigint,
    stop bigint
);

create temporary table ver (
    fact_no bigint,
    no integer, -- in order of first assertion
    version_id uuid,
    seq bigint, -- of the first assertion
    active_seq bigint, -- of the first that says ACTIVE
    activated_seq bigint,
    revoked_seq bigint,
    one_seq bigint, -- first said by an ACTIVE assertion, by a proposal
    one_wish_seq bigint,
    auto_seq bigint,
    auto_wish_seq bigint,
    known_seq bigint,
    known_wish_seq bigint,
    start bigint,
    stop bigint, -- as asserted
    value_hash bytea,
    same_hash bytea, -- equal where values are one by the rule of the projection
    value_key bigint, -- its first eight bytes
    rank integer -- of two that agree the higher one answers
);

create temporary table slice (
    slice bigint, -- number in the chunk
    fact_no bigint,
    k bigint, -- events up to this sequence number are known
    is_last boolean
);

create temporary table regime (
    slice bigint,
    fact_no bigint,
    k bigint,
    is_last boolean,
    instants_max integer, -- null: all
    is_single boolean,
    is_many boolean, -- many-valued: active, and none of them says one
    is_tangled boolean, -- covering takes more than the latest start
    has_decisions boolean
);

create temporary table grouped (
    slice bigint,
    no integer,
    grp integer, -- the lowest number of its near duplicates
    merged_into integer
);

create temporary table standing (
    slice bigint,
    fact_no bigint,
    k bigint,
    no integer,
    start bigint,
    stop bigint, -- as asserted
    ends bigint,
    is_ever boolean,
    is_active boolean,
    is_revoked boolean,
    is_one boolean,
    is_automatic boolean,
    is_known boolean,
    is_able boolean, -- active, and ends after it starts
    auto_from bigint, -- effect of its automatic edges, empty without
    auto_to bigint,
    value_key bigint,
    rank integer
);

create temporary table stated (
    fact_no bigint,
    seq bigint,
    event_id uuid,
    src integer,
    dst integer,
    effective_at bigint,
    mode text,
    is_wish boolean,
    taken_seq bigint
);

create temporary table edge_at (
    slice bigint,
    src integer,
    dst integer,
    since bigint, -- effective_at or start, whatever its interval
    eff_from bigint,
    eff_to bigint,
    dst_id uuid
);

create temporary table decided (
    slice bigint,
    fact_no bigint,
    left_id uuid,
    right_id uuid,
    l integer,
    r integer,
    keep integer, -- null: neither
    over_from bigint,
    over_to bigint,
    is_known boolean -- both were ever active
);

create temporary table excluded (
    slice bigint,
    no integer,
    over_from bigint,
    over_to bigint
);

create temporary table related (
    slice bigint,
    fact_no bigint,
    l integer,
    r integer,
    relation text,
    newer integer,
    decided_at bigint
);

create temporary table cell (
    cell bigint,
    slice bigint,
    fact_no bigint,
    k bigint,
    t bigint,
    is_last boolean,
    is_single boolean,
    is_many boolean,
    is_tangled boolean,
    has_decisions boolean,
    over bigint -- automatic ones of this start cover every earlier one
);

create temporary table code (
    cell bigint,
    slice bigint,
    t bigint,
    no integer,
    code smallint, -- 0 eligible, else the reason as in timeline
    is_held boolean, -- able, and within its own interval
    is_covered boolean,
    value_key bigint,
    rank integer
);

create temporary table able (
    cell bigint,
    no integer
);

create temporary table edge_now (
    cell bigint,
    is_stated boolean,
    src integer,
    dst integer
);

create temporary table reached (
    cell bigint,
    n integer,
    m integer
);

create temporary table kept (
    slice bigint,
    m integer,
    n integer
);

create temporary table cover (
    cell bigint,
    n integer,
    m integer
);

create temporary table upward (
    cell bigint,
    n integer,
    m integer
);

create temporary table cyclic (
    cell bigint
);

create temporary table circle (
    cell bigint,
    a integer,
    b integer
);

create temporary table answer (
    cell bigint,
    slice bigint,
    fact_no bigint,
    k bigint,
    t bigint,
    is_last boolean,
    kind smallint,
    reason smallint,
    versions integer, -- how many
    set_hash bigint, -- of their numbers
    rank integer, -- of the one that answers
    value_key bigint,
    is_many boolean
);

create temporary table painted (
    line bigint, -- in the order of sequence numbers
    fact_no bigint,
    lane integer,
    seq bigint,
    known_from bigint,
    valid_from bigint,
    valid_to bigint,
    kind smallint,
    reason smallint,
    answer_key uuid,
    versions integer[],
    winner integer,
    count integer, -- of versions; null where the lanes name them
    set_hash bigint,
    rank integer -- of the winner
);

create temporary table pair (
    fact_no bigint,
    left_id uuid,
    right_id uuid,
    relation text,
    is_rival boolean -- eligible together with another value, so one of the first thousand that are kept
);

create temporary table label_wanted (
    slice bigint,
    fact_no bigint,
    k bigint,
    no integer
);

create temporary table label (
    slice bigint,
    fact_no bigint,
    k bigint,
    no integer,
    lifecycle text,
    supersedes_id uuid,
    merged_into_id uuid,
    confidence double precision,
    last_cell bigint -- the last instant before its end, where lifecycle SUPERSEDED says who covers it
);

create temporary table stretch (
    fact_no bigint,
    lane integer, -- a version's own; 0: all; -1: all of a many-valued fact
    valid_from bigint,
    valid_to bigint,
    kind smallint,
    reason smallint,
    cell bigint, -- its first
    versions integer,
    rank integer, -- of the one that answers
    value_key bigint, -- and its value
    set_hash bigint
);

create temporary table member (
    cell bigint,
    version_ids uuid[],
    behind text -- as the state hash says it
);

create temporary table state (
    fact_no bigint,
    digest bytea
);

create temporary table now_wanted (
    fact_no bigint,
    kind smallint,
    reason smallint,
    versions integer,
    set_hash bigint,
    winner integer,
    valid_from bigint,
    valid_to bigint
);
