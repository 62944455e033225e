-- Where some facts of a projection are copied to, so that the check judges them at once wherever they lie.
create temporary table fact (like {schema}.fact);
create temporary table event (like {schema}.event);
create temporary table version (like {schema}.version);
create temporary table version_label (like {schema}.version_label);
create temporary table edge (like {schema}.edge);
create temporary table ending (like {schema}.ending);
create temporary table decision (like {schema}.decision);
create temporary table relation (like {schema}.relation);
create temporary table conflict (like {schema}.conflict);
create temporary table timeline (like {schema}.timeline);
create temporary table memory (like {schema}.memory);
create temporary table checked (like {schema}.checked);

create function pg_temp.answer_at(
    fact_no bigint,
    valid_at timestamptz,
    system_as_of timestamptz,
    out kind smallint,
    out reason smallint,
    out versions integer[],
    out winner integer,
    out valid_from timestamptz,
    out valid_to timestamptz
)
returns setof record
language sql stable rows 1
as $$
    select a.*
    from {schema}.answer_at(fact_no, valid_at, system_as_of) as a
$$;
