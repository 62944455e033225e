"""A verification sees: each column of each projection table, changed in one line on one side, is found and named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection, sql

from chronofact.contracts.verification import Difference
from chronofact.postgres.session import connect
from tests.contract.filling import fill, log_order, make, sliced, whole_partitions
from tests.contract.memory_log import MemoryTopic
from tests.contract.test_check_mutations import BASE, columns_of, lines_of, spoil, story, texts
from tests.contract.verifying import compared, verified
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact

OVERLAY: Final = "version_label"
"""Told as the versions whose newest label it is."""
LABEL: Final = {"confidence", "lifecycle", "supersedes_id", "superseded_by_id", "merged_into_id"}


def told() -> MemoryTopic:
    topic = MemoryTopic()
    said = [story(Fact("ann")), texts(Fact("bob", "memory/drinks")), story(Fact("max"))]  # max's partition is ann's
    for step in range(max(map(len, said))):
        topic.append([one[step] for one in said if step < len(one)], appended_at=BASE + step * 1_000_000)
    # an event that comes once more, and messages that nobody can read
    topic.append([said[0][0]], appended_at=BASE + 60_000_000)
    for partition in (0, 5):
        topic.append_raw(partition, b"no key", b"no event", appended_at=BASE + 61_000_000)
    return topic


@pytest.fixture(scope="module")
def filled(postgres: str, database_template: str) -> Iterator[str]:
    """One log folded event by event into p1, and each fact at once into p2."""
    with database_like(postgres, database_template) as address:
        topic = told()
        make(address, "p2")
        fill(address, "p1", topic, sliced(log_order(topic), 1), cache_bytes_max=0)
        fill(address, "p2", topic, whole_partitions(topic))
        yield address


@pytest.fixture(params=[False, True], ids=["same numbers", "other numbers"])
def spoiling(filled: str, request: pytest.FixtureRequest) -> Iterator[Connection[Any]]:
    """A transaction in which p1 has no constraints, and may have given its facts other numbers; it is rolled back."""
    with connect(filled, "test") as connection:
        for table, name in connection.execute(
            "select conrelid::regclass::text, conname from pg_constraint where connamespace = 'p1'::regnamespace"
            " and contype in ('c', 'u', 'p') and coninhcount = 0"
        ).fetchall():
            gone = sql.SQL("alter table {} drop constraint {}")
            connection.execute(gone.format(sql.SQL(table), sql.Identifier(name)))
        connection.execute("drop index p1.timeline_painted_once")
        if request.param:
            for table in {table for table, _, _ in columns_of(connection)}:
                # of two in a partition each has the other's, and one that is alone the second
                renumber = sql.SQL("update p1.{} set fact_no = fact_no # 3")
                connection.execute(renumber.format(sql.Identifier(table)))
        connection.execute("savepoint before")
        yield connection
        connection.rollback()


def test_batches_do_not_tell(filled: str) -> None:
    outcome, kept = verified(filled)
    assert (outcome.identical, outcome.facts, outcome.differences, kept) == (True, 3, 0, [])
    assert verified(filled, aspects="said")[0].identical
    with psycopg.connect(filled) as connection:
        labels = "select (select count(*) from p1.version_label), (select count(*) from p2.version_label)"
        mine, theirs = connection.execute(labels).fetchone() or (0, 0)
    assert mine > theirs == 0


def test_other_numbers_are_no_difference(spoiling: Connection[Any]) -> None:
    assert differences(spoiling) == []


def test_every_changed_column_is_found_and_named(spoiling: Connection[Any]) -> None:
    unseen: list[str] = []
    for table, column, kind in columns_of(spoiling):
        lines = newest(spoiling, table, column)
        assert lines, f"no line of {table} to change {column} in"
        for place, fact_id, value in lines:
            spoil(spoiling, table, column, kind, place, value)
            found = differences(spoiling)
            if not is_named(found, table, column, fact_id):
                told = {(one.aspect, one.fact_id == fact_id) for one in found}
                unseen.append(f"{table}.{column} from {value!r} at {place}: {told or 'nothing'}")
    assert not unseen, "\n".join(unseen)


def test_every_lost_and_every_doubled_line_is_found_and_named(spoiling: Connection[Any]) -> None:
    unseen: list[str] = []
    for table in sorted({table for table, _, _ in columns_of(spoiling)}):
        for place, fact_id, _ in newest(spoiling, table, "fact_no"):
            where, ctid = place.rsplit(" ", 1)
            at = {"table": sql.SQL(where), "ctid": sql.Literal(ctid)}
            gone = sql.SQL("delete from {table} where ctid = {ctid}").format(**at)
            columns = [sql.Identifier(name) for of, name, _ in columns_of(spoiling) if of == table]
            twice = sql.SQL("insert into {table} ({columns}) select {columns} from {table} where ctid = {ctid}").format(
                columns=sql.SQL(", ").join(columns), **at
            )
            for change in (gone, twice):
                assert spoiling.execute(change).rowcount == 1
                found = differences(spoiling)
                # of a label that comes twice the newest still is the same
                if not is_named(found, table, "", fact_id) and (table, change) != (OVERLAY, twice):
                    unseen.append(f"{change.as_string(spoiling)}: {[(one.aspect, one.fact_id) for one in found]}")
    assert not unseen, "\n".join(unseen)


def test_what_two_lines_exchange_is_found(spoiling: Connection[Any]) -> None:
    unseen: list[str] = []
    for table, column, _ in columns_of(spoiling):
        if table == OVERLAY or (table == "version" and column in LABEL):
            continue
        for where, mine, theirs in pairs_of(spoiling, table, column):
            line = {"table": sql.SQL(where), "column": sql.Identifier(column), "mine": mine, "theirs": theirs}
            exchange = sql.SQL(
                "update {table} as t set {column} = other.{column} from {table} as other"
                " where (t.ctid, other.ctid) in (({mine}, {theirs}), ({theirs}, {mine}))"
            ).format(**line)
            assert spoiling.execute(exchange).rowcount == 2
            if not any(table == one.aspect or column in {"fact_no", "fact_id"} for one in differences(spoiling)):
                unseen.append(f"{table}.{column} of {where} {mine} and {theirs}")
    assert not unseen, "\n".join(unseen)


def test_numbers_far_apart_are_walked_over(spoiling: Connection[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    partitions = [partition for (partition,) in spoiling.execute("select distinct fact_no >> 40 from p2.fact")]
    lines = compared(spoiling, partitions)[0].lines
    monkeypatch.setattr("chronofact.postgres.verify_side.SPAN_SMALL", -(10**9))
    tally, found = compared(spoiling, partitions)
    assert (tally.facts, found) == (3, [])
    assert tally.lines in {lines, 0}, "of facts that are walked over no lines are counted"
    spoiling.execute("update p1.event set kafka_offset = kafka_offset + 1 where event_seq = 2")
    assert [one.aspect for one in compared(spoiling, partitions)[1]] == ["event"] * 3


def test_a_number_is_compared_whole_where_its_halves_would_make_up_for_each_other(spoiling: Connection[Any]) -> None:
    unseen: list[str] = []
    for table, column, kind in columns_of(spoiling):
        if kind != "bigint" or column == "fact_no":
            continue
        for place, fact_id, _ in newest(spoiling, table, column)[:1]:
            where, ctid = place.rsplit(" ", 1)
            # Postgres's own hash of a bigint is that of the exclusive or of its halves
            other = sql.SQL(
                "update {table} set {column} = (1::bigint << 32) | ({column} # 1) where ctid = {ctid}"
            ).format(table=sql.SQL(where), column=sql.Identifier(column), ctid=sql.Literal(ctid))
            assert spoiling.execute(other).rowcount == 1
            if not is_named(differences(spoiling), table, column, fact_id):
                unseen.append(f"{table}.{column}")
    assert not unseen, unseen


def test_what_two_lines_of_one_event_exchange_is_found(spoiling: Connection[Any]) -> None:
    for name in ("p1", "p2"):
        spoiling.execute(f"update {name}.relation set event_seq = 7".encode())
    kinds = {"supersedes": "contradicts", "contradicts": "supersedes"}
    told = {one for (one,) in spoiling.execute("select distinct relation from p1.relation")}
    assert kinds.keys() < told
    change = "update p1.relation set relation = %s::jsonb ->> relation where relation = any(%s)"
    assert spoiling.execute(change, (json.dumps(kinds), [*kinds])).rowcount == 2
    assert {one.aspect for one in differences(spoiling)} == {"relation"}


@pytest.mark.parametrize("theirs", ["null", "'-0'"])
def test_nothing_and_minus_nothing_are_not_taken_for_zero(spoiling: Connection[Any], theirs: str) -> None:
    for table in ("version", OVERLAY):
        for name, said in (("p1", "0"), ("p2", theirs)):
            spoiling.execute(f"update {name}.{table} set confidence = {said}".encode())
    found = differences(spoiling)
    assert {one.aspect for one in found} == {"version"}
    assert len({one.fact_id for one in found}) == 3, "all facts"


@pytest.mark.parametrize("change", ["valid_from = '-infinity'", "valid_to = 'infinity'", "known_from = 'infinity'"])
def test_a_bound_beyond_all_instants_is_told(spoiling: Connection[Any], change: str) -> None:
    column, _, to = change.partition(" = ")
    spoilt = f"select min(fact_no) from p1.timeline where lane > 0 and {column} is distinct from {to}"
    changed = f"update p1.timeline set {change} where lane > 0 and fact_no = ({spoilt})"
    assert spoiling.execute(changed.encode()).rowcount
    assert {one.aspect for one in differences(spoiling)} == {"timeline"}


def differences(connection: Connection[Any]) -> list[Difference]:
    """What is found; then the change is undone."""
    partitions = [partition for (partition,) in connection.execute("select distinct fact_no >> 40 from p2.fact")]
    tally, found = compared(connection, partitions)
    assert bool(tally.differences) == bool(found)
    connection.execute("rollback to savepoint before")
    return found


def newest(connection: Connection[Any], table: str, column: str) -> list[tuple[str, UUID, Any]]:
    """Lines to change; of labels the newest, since those before tell only how the log was cut into batches."""
    if table == OVERLAY:
        only = "where not exists (select from p1.version_label as n where {newer} and n.event_seq > t.event_seq)"
    elif table == "version" and column in LABEL:
        only = "where not exists (select from p1.version_label as n where {newer})"
    else:
        return lines_of(connection, table, column)
    newer = "n.fact_no = t.fact_no and n.version_no = t.version_no"
    return connection.execute(
        sql.SQL(
            "select distinct on (t.{0}::text) t.tableoid::regclass || ' ' || t.ctid, f.fact_id, t.{0}"
            " from p1.{1} as t join p1.fact as f on f.fact_no = t.fact_no {2} order by t.{0}::text, f.fact_no limit 3"
        ).format(sql.Identifier(column), sql.Identifier(table), sql.SQL(only.format(newer=newer)))
    ).fetchall()


def pairs_of(connection: Connection[Any], table: str, column: str) -> list[tuple[str, str, str]]:
    """Two lines of one fact, and two of two facts of one partition, that say otherwise here, and not only here."""
    only = "t.lane = 0 and o.lane = 0" if table == "timeline" and column != "lane" else "true"
    return connection.execute(
        sql.SQL(
            "select distinct on (t.fact_no = o.fact_no) t.tableoid::regclass::text, t.ctid::text, o.ctid::text"
            " from p1.{1} as t join p1.{1} as o on t.tableoid = o.tableoid and t.ctid < o.ctid"
            " and t.fact_no >> 40 = o.fact_no >> 40 and t.{0}::text <> o.{0}::text"
            " where to_jsonb(t) - {2} <> to_jsonb(o) - {2} and {3}"
            " order by t.fact_no = o.fact_no, t.fact_no, t.ctid, o.ctid"
        ).format(sql.Identifier(column), sql.Identifier(table), sql.Literal(column), sql.SQL(only))
    ).fetchall()


def is_named(found: list[Difference], table: str, column: str, fact_id: UUID) -> bool:
    """Under its table and fact; a label under its version, if it is one that a batch could have left."""
    aspects = {"version", OVERLAY} if table == OVERLAY else {table}
    mine = [one for one in found if one.aspect in aspects]
    if (table, column) == ("fact", "fact_no"):  # the head is what it was, and all else lost it
        return {"event", "version", "timeline"} <= {one.aspect for one in found if one.fact_id == fact_id}
    if column in {"fact_no", "fact_id"}:
        return bool(mine)
    return any(one.fact_id == fact_id and one.left_said != one.right_said for one in mine)
