"""What COPY lines say arrives as said, in every column, whatever is null, large or odd."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from struct import pack
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import set_json_loads

from chronofact.domain.canonical import canonical
from chronofact.domain.interval import INSTANT_MAX, INSTANT_MIN
from chronofact.postgres import copy, memory_lines
from chronofact.postgres.session import connect
from chronofact.runtime.failures import ConstraintBroken
from tests.integration.fixtures_stack import database_like

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

instants = st.integers(INSTANT_MIN + 86_400_000_000, INSTANT_MAX - 86_400_000_000)
ids = st.binary(min_size=16, max_size=16)
hashes = st.binary(min_size=32, max_size=32)
fact_nos = st.builds(lambda partition, number: partition << 40 | number, st.integers(0, 11), st.integers(1, 2**39))
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40)
numbers = st.integers(1, 2**31 - 1)
seqs = st.integers(1, 2**62)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
).map(canonical)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


class Halves(bytes):
    """An embedding as ``Derived`` has it."""


READ = {
    "memory": "fact_no, version_no, event_seq, text, extractor, frames, keys, embedder, substr(halfvec_send(embedding), 5)"
}
"""Where columns are not all as they were written."""

LINES: dict[str, tuple[Any, tuple[st.SearchStrategy[Any], ...]]] = {
    "event": (
        copy.event_line,
        (fact_nos, seqs, ids, instants, texts, st.lists(ids, max_size=4), values, hashes, st.integers(0, 11), seqs),
    ),
    "version": (
        copy.version_line,
        (
            *(fact_nos, numbers, ids, values, hashes, maybe(instants), maybe(instants), instants, seqs, texts, hashes),
            *(maybe(st.floats(0, 1)), texts, maybe(ids), maybe(ids), maybe(ids)),
        ),
    ),
    "version_label": (
        copy.version_label_line,
        (fact_nos, numbers, seqs, texts, maybe(ids), maybe(ids), maybe(ids), maybe(st.floats(0, 1))),
    ),
    "edge": (
        copy.edge_line,
        (fact_nos, ids, st.integers(0, 99), seqs, ids, ids, maybe(instants), maybe(texts)),
    ),
    "ending": (copy.ending_line, (fact_nos, ids, seqs, ids, instants)),
    "decision": (
        copy.decision_line,
        (fact_nos, ids, seqs, ids, ids, maybe(ids), instants, maybe(texts), maybe(texts)),
    ),
    "relation": (
        copy.relation_line,
        (
            *(fact_nos, ids, seqs, ids, ids, texts, maybe(ids), instants, texts, maybe(texts)),
            *(st.booleans(), maybe(texts)),
        ),
    ),
    "memory": (
        memory_lines.memory_line,
        (
            *(fact_nos, numbers, seqs, texts, texts, values, st.lists(texts, max_size=4), maybe(texts)),
            maybe(
                st.lists(st.floats(-9, 9, width=16), min_size=384, max_size=384).map(
                    lambda found: Halves(pack("<384e", *found))
                )
            ),
        ),
    ),
    "checked": (
        memory_lines.checked_line,
        (fact_nos, ids, seqs, ids, seqs, seqs, seqs, maybe(texts), st.booleans()),
    ),
    "conflict": (
        copy.conflict_line,
        (
            *(fact_nos, st.just(bytes(16)), ids.filter(any), st.sampled_from(["OPEN", "RESOLVED"])),
            *(seqs, instants),
        ),
    ),
    "timeline": (
        copy.timeline_line,
        (
            *(fact_nos, st.integers(0, 2**31 - 1), instants, seqs, maybe(st.just(INSTANT_MIN + 86_400_000_000))),
            *(maybe(instants.filter(lambda one: one > INSTANT_MIN + 86_400_000_000)), st.integers(0, 3)),
            *(maybe(st.integers(1, 7)), maybe(ids), maybe(st.lists(numbers, max_size=5)), maybe(numbers)),
        ),
    ),
}


@pytest.fixture(scope="module")
def shared_database(postgres: str, database_template: str) -> Iterator[str]:
    with database_like(postgres, database_template) as address:
        yield address


@pytest.mark.parametrize("table", LINES)
def test_lines_arrive_as_said(shared_database: str, table: str) -> None:
    encode, columns = LINES[table]
    with connect(shared_database, "test") as connection:
        set_json_loads(lambda raw: raw, connection)

        @settings(max_examples=40)
        @given(st.tuples(*columns))
        def arrives(line: tuple[Any, ...]) -> None:
            with connection.transaction(force_rollback=True):
                copy.copy_lines(connection, "p1", table, [encode(*line)])
                (found,) = connection.execute(f"select {READ.get(table, '*')} from p1.{table}").fetchall()
            assert list(map(spelled, found)) == list(map(plain, line))

        arrives()


def spelled(found: object) -> object:
    match found:
        case UUID():
            return found.bytes
        case datetime():
            return (found - EPOCH) // timedelta(microseconds=1)
        case list():
            return [spelled(one) for one in found]
        case str():
            return found.encode()
        case _:
            return found


def plain(said: object) -> object:
    if isinstance(said, list):
        return [plain(one) for one in said]
    if isinstance(said, Halves):
        return memory_lines.high_first(said)
    return said.encode() if isinstance(said, str) else said


def test_many_blocks_are_one_copy(shared_database: str) -> None:
    lines = [
        copy.timeline_line(number % 12 << 40 | number, 0, 0, 1, None, None, 0, 7, None, (), None)
        for number in range(1, 20_001)
    ]
    assert sum(1 for _ in copy.blocks(lines)) > 5
    with connect(shared_database, "test") as connection, connection.transaction(force_rollback=True):
        copy.copy_lines(connection, "p1", "timeline", lines)
        (count,) = connection.execute("select count(*) from p1.timeline").fetchone() or (0,)
        assert count == 20_000
        leaves = connection.execute("select count(*) from p1.timeline group by tableoid").fetchall()
        assert len(leaves) == 12


def test_nothing_is_an_empty_copy(shared_database: str) -> None:
    with connect(shared_database, "test") as connection, connection.transaction(force_rollback=True):
        copy.copy_lines(connection, "p1", "timeline", [])
        assert connection.execute("select count(*) from p1.timeline").fetchone() == (0,)


@pytest.mark.parametrize("valid_from", [None, 5])
def test_the_database_refuses_to_be_painted_twice(shared_database: str, valid_from: int | None) -> None:
    line = copy.timeline_line(1, 0, 0, 1, valid_from, None, 0, 7, None, (), None)
    with connect(shared_database, "test") as connection, pytest.raises(ConstraintBroken) as broken:
        copy.copy_lines(connection, "p1", "timeline", [line, line])
    assert broken.value.constraint.startswith("timeline_p00")


def test_the_database_refuses_an_empty_stretch(shared_database: str) -> None:
    line = copy.timeline_line(1, 0, 0, 1, 5, 5, 0, 7, None, (), None)
    with connect(shared_database, "test") as connection, pytest.raises(ConstraintBroken) as broken:
        copy.copy_lines(connection, "p1", "timeline", [line])
    assert broken.value.constraint == "timeline_stretch_is_not_empty"


def test_sessions_speak_utc_whatever_the_server_says(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"alter database {name} set timezone = 'America/Los_Angeles'")
    with connect(database, "test") as connection:
        assert connection.execute("show timezone").fetchone() == ("UTC",)
        assert connection.execute("select '0001-01-01T00:00:00Z'::timestamptz").fetchone() is not None
