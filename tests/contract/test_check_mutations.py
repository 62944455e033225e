"""The check sees: each column of each projection table, changed in one line at a time, is found and named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID, uuid4

import pytest
from psycopg import Connection, sql

from chronofact.contracts.checking import Divergence
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    FactActivated,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Lifecycle,
    Mode,
    RelationDeclared,
    RelationsChecked,
    Succession,
    Supersession,
    Verdict,
)
from chronofact.domain.interval import parse_instant
from chronofact.postgres.check_cut import CheckCut
from chronofact.postgres.projection_store import ProjectionStore
from tests.contract.checking import connection_of, cut_of, judged, read_beside
from tests.contract.memory_log import MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.deriving import derived, frame, pointing
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact, Said

KEYS: Final = {"missing", "extra", "fact_no", "offset", "lost"}
"""How a line is told whose key was changed: as one that is missing, and one too many."""
ALSO: Final[dict[tuple[str, str], set[str]]] = {
    # which of the five parts it was, the hash of all of them can't tell
    **{("fact", part): {"identity"} for part in ("tenant_id", "subject_id", "scope_kind", "scope_key", "fact_key")},
    ("version", "version_id"): KEYS,
    ("edge", "event_id"): KEYS,
    ("edge", "ordinal"): KEYS,
    ("ending", "event_id"): KEYS,
    ("decision", "event_id"): KEYS,
    ("relation", "event_id"): KEYS,
    ("checked", "event_id"): KEYS,
    ("memory", "version_no"): KEYS,
    ("conflict", "left_version_id"): KEYS,
    ("conflict", "right_version_id"): KEYS,
    # a stretch of other bounds leaves or takes instants: there the answer is another
    ("timeline", "valid_from"): {"missing", "kind", "reason", "versions", "winner", "valid_to"},
    ("timeline", "valid_to"): {"missing", "kind", "reason", "versions", "winner"},
    ("timeline", "lane"): {"missing"},
    ("event", "kafka_offset"): KEYS,
}
LINES_A_COLUMN: Final = 2
BASE: Final = 1_796_000_000_000_000

Spoilt = tuple[str, str, str]


def story(fact: Fact) -> list[Said]:
    """A single-valued fact with everything that can befall one."""
    start, later = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"
    npm = fact.asserts("npm", start, "2026-09-01T00:00:00Z", source="s1")
    yarn = fact.asserts("yarn", start, source="s2")
    wish = fact.asserts("bun", later, source="s3", lifecycle=Lifecycle.PROPOSED)
    auto = fact.asserts("pnpm", "2026-05-01T00:00:00Z", source="s4", succession=Succession.AUTOMATIC)
    ids = [one.version_id or b"" for one in (npm, yarn, wish, auto)]
    over = Supersession(ids[1], parse_instant("2026-06-01T00:00:00Z"), Mode.OVERRIDE)
    task = fact.asserts("deno", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z", source="s5", supersedes=(over,))
    left, right = sorted(ids[:2])
    ended = fact.says(FactEnded(ids[3], parse_instant("2026-08-01T00:00:00Z"), "over"))
    return [
        npm,
        yarn,
        wish,
        auto,
        fact.says(FactActivated(ids[2], "admitted")),
        task,
        fact.says(FactSuperseded(ids[2], ids[1], parse_instant(later), Mode.REPLACE, "said")),
        ended,
        fact.says(ConflictResolved(left, right, left, parse_instant(later), "ada", "asked")),
        fact.says(FactRevoked(event_id=ended.event_id, reason="a mistake")),
        fact.says(FactRevoked(version_id=task.version_id, reason="wrong source")),
    ]


def texts(fact: Fact) -> list[Said]:
    """A many-valued fact of text memories that relate."""
    found = (
        derived(["drink|tea"], pointing(tea=1), frames=[frame("drink", "tea")]),
        derived(["drink|coffee"], pointing(coffee=1)),
        derived(["drink|tea", "drink|green"], extractor="hand-2"),
        None,
    )
    said = [
        fact.asserts(
            f"likes {what}", f"2026-0{number}-01T00:00:00Z", source=what, cardinality=Cardinality.MANY, derived=about
        )
        for number, (what, about) in enumerate(
            zip(("tea", "coffee", "green tea", "water"), found, strict=True), start=1
        )
    ]
    ids = [one.version_id or b"" for one in said]
    at = parse_instant("2026-05-01T00:00:00Z")

    def relate(one: int, other: int, verdict: Verdict, newer: bytes | None = None) -> Said:
        left, right = sorted((ids[one], ids[other]))
        return fact.says(
            RelationDeclared(left, right, verdict, newer, at, Decider.MODEL, "alike", llm_call_made=True, model="m1")
        )

    return [
        *said,
        relate(0, 2, Verdict.NEAR_DUPLICATE),
        relate(1, 0, Verdict.SUPERSEDES, ids[1]),
        relate(1, 3, Verdict.CONTRADICTS),
        fact.says(RelationsChecked(ids[3], 3, 2, 1, "no model", llm_call_made=False)),
    ]


@pytest.fixture(scope="module")
def projected(postgres: str, database_template: str) -> Iterator[tuple[str, MemoryTopic]]:
    """A small dense projection, event by event, its constraints gone; and the log that it came from."""
    with database_like(postgres, database_template) as address:
        topic = MemoryTopic()
        store = ProjectionStore(address, "p1")
        projector, _ = projector_on(topic.join(), store)
        told = [story(Fact("ann")), texts(Fact("bob", "memory/drinks")), story(Fact("eve"))]
        for step in range(max(map(len, told))):
            topic.append([one[step] for one in told if step < len(one)], appended_at=BASE + step * 1_000_000)
            run_until_idle(projector)
        store.close()
        yield address, topic


@pytest.fixture
def cut(projected: tuple[str, MemoryTopic]) -> Iterator[CheckCut]:
    with cut_of(projected[0], with_ids=True) as cut:
        connection = connection_of(cut)
        for table, name in connection.execute(
            "select conrelid::regclass::text, conname from pg_constraint where connamespace = 'p1'::regnamespace"
            " and contype in ('c', 'u', 'p') and coninhcount = 0"
        ).fetchall():
            connection.execute(
                sql.SQL("alter table {} drop constraint {}").format(sql.SQL(table), sql.Identifier(name))
            )
        connection.execute("drop index p1.timeline_painted_once")
        yield cut


def differences(cut: CheckCut, topic: MemoryTopic) -> list[Divergence]:
    return judged(cut) + read_beside(cut, {n: found for n, found in topic.partitions.items() if found})


def test_nothing_differs_before_anything_is_changed(cut: CheckCut, projected: tuple[str, MemoryTopic]) -> None:
    assert differences(cut, projected[1]) == []


def columns_of(connection: Connection[Any]) -> list[tuple[str, str, str]]:
    """Of every table of the projection, leaves apart: one that is new is looked at, too."""
    return connection.execute(
        "select c.table_name, c.column_name, c.data_type from information_schema.columns as c"
        " join pg_class as t on t.relname = c.table_name and t.relnamespace = 'p1'::regnamespace"
        " where c.table_schema = 'p1' and t.relkind in ('r', 'p') and not t.relispartition and c.is_generated = 'NEVER'"
        " order by c.table_name, c.ordinal_position"
    ).fetchall()


def test_every_changed_column_is_found_and_named(cut: CheckCut, projected: tuple[str, MemoryTopic]) -> None:
    connection = connection_of(cut)
    columns = columns_of(connection)
    assert {"fact", "event", "version", "version_label", "edge", "ending", "decision", "relation", "conflict",
            "timeline", "memory", "checked"} <= {table for table, _, _ in columns}  # fmt: skip
    unseen: list[str] = []
    for table, column, kind in columns:
        lines = lines_of(connection, table, column)
        assert lines, f"no line of {table} to change {column} in"
        for place, fact_id, value in lines:
            connection.execute("savepoint before")
            spoil(connection, table, column, kind, place, value)
            found = differences(cut, projected[1])
            connection.execute("rollback to savepoint before")
            if not is_named(found, table, column, fact_id):
                told = {(one.relation, one.aspect, one.fact_id == fact_id) for one in found}
                unseen.append(f"{table}.{column} from {value!r} at {place}: {told or 'nothing'}")
    assert not unseen, "\n".join(unseen)


def is_named(found: list[Divergence], table: str, column: str, fact_id: UUID) -> bool:
    aspects = {column} | ALSO.get((table, column), set())
    if column == "fact_no":
        return any(one.aspect in KEYS | {"event_seq"} and one.relation in {table, "log"} for one in found)
    mine = [one for one in found if one.fact_id == fact_id]
    if (table, column) == ("fact", "fact_id"):
        return any(one.relation == "fact" and one.aspect == column for one in found)
    return any(one.relation in {table, "log"} and one.aspect in aspects for one in mine)


def lines_of(
    connection: Connection[Any], table: str, column: str, *, lines_max: int = LINES_A_COLUMN
) -> list[tuple[str, UUID, Any]]:
    """Some lines, by place, with their fact and what the column says now: different sayings first."""
    # a lane is mostly painted whole again: under a line that is too short lies an older one that says the same
    only = "where t.lane = 0" if table == "timeline" and column in {"valid_from", "valid_to"} else ""
    found = connection.execute(
        sql.SQL(
            "select distinct on (t.{0}::text) t.tableoid::regclass || ' ' || t.ctid, f.fact_id, t.{0}"
            " from p1.{1} as t join p1.fact as f on f.fact_no = t.fact_no {2} order by t.{0}::text, f.fact_no"
        ).format(sql.Identifier(column), sql.Identifier(table), sql.SQL(only))
    ).fetchall()
    step = max(1, len(found) // lines_max)
    return found[::step][:lines_max]


def spoil(connection: Connection[Any], table: str, column: str, kind: str, place: str, value: Any) -> None:
    where, ctid = place.rsplit(" ", 1)
    statement = sql.SQL("update {} set {} = {} where ctid = {}").format(
        sql.SQL(where), sql.Identifier(column), spoilt(table, column, kind, value), sql.Literal(ctid)
    )
    assert connection.execute(statement).rowcount == 1


def spoilt(table: str, column: str, kind: str, value: Any) -> sql.Composable:
    """Something of the type that the column could say and does not."""
    name = sql.Identifier(column)
    if table == "timeline" and column in {"valid_from", "valid_to"}:
        return shrunk(column)
    if column == "kind":
        return sql.Literal((value + 1) % 3)
    if column == "reason" and kind == "smallint":
        return sql.Literal(1 if value is None else value % 7 + 1)
    if column == "lane_mode":
        return sql.Literal(1 - value)
    match kind:
        case "uuid":
            return sql.Literal(uuid4())
        case "bigint" | "integer":
            return sql.Literal(1) if value is None else sql.SQL("{} + 1000").format(name)
        case "smallint":
            return sql.SQL("{} + 1").format(name)
        case "timestamp with time zone":
            return sql.SQL("coalesce({} + interval '1 day', '2026-02-02Z')").format(name)
        case "bytea":
            return sql.SQL("set_byte({0}, 3, get_byte({0}, 3) # 1)").format(name)
        case "boolean":
            return sql.SQL("not {}").format(name)
        case "double precision":
            return sql.SQL("coalesce({} + 0.05, 0.05)").format(name)
        case "json":
            return sql.Literal('"spoilt"')
        case "ARRAY":
            ids, words = sql.Literal([uuid4()]), sql.SQL("array['spoilt']")
            return {"version_ids": ids, "keys": words}.get(column, sql.SQL("array[1, 2]"))
        case "USER-DEFINED":
            return sql.SQL("coalesce({0} + {0}, array_fill(0.5::real, array[384])::halfvec)").format(name)
        case _:
            return sql.Literal(other_word(column, value))


def shrunk(column: str) -> sql.Composable:
    """A bound moved into the stretch, so that it leaves an instant to what lay there before."""
    if column == "valid_from":
        return sql.SQL("coalesce(valid_to, valid_from + interval '2 days', '2026-02-02Z') - interval '1 day'")
    return sql.SQL("coalesce(valid_from, valid_to - interval '2 days', '2026-02-02Z') + interval '1 day'")


def other_word(column: str, value: str | None) -> str:
    words = {
        "lifecycle": ("ACTIVE", "PROPOSED"),
        "mode": ("replace", "override"),
        "event_type": ("FactEnded", "FactActivated"),
        "relation": ("OPEN", "RESOLVED") if value in {"OPEN", "RESOLVED"} else ("unrelated", "contradicts"),
        "decided_by": ("person", "rule"),
    }
    if column == "canonical_payload":
        return json.dumps({"spoilt": value})
    return next(word for word in words.get(column, ("spoilt", "more spoilt")) if word != value)
