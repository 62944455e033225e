"""What a projection keeps of a log of everything, read back and projected again: the same, or named where it is not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import pytest
from psycopg import Connection

from chronofact.contracts.position import Position
from chronofact.contracts.refilling import Stamps, said_again
from chronofact.postgres import holding
from chronofact.postgres.across_topics import across, compare_across
from chronofact.postgres.baseline_source import reading
from chronofact.postgres.refill_source import RefillSource, refill_source
from chronofact.postgres.session import connect
from chronofact.postgres.standing import Standing
from chronofact.runtime.failures import Transient, Unfit
from tests.contract.filling import fill, log_order, make, sliced, whole_partitions
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.integration.fixtures_stack import database_like
from tests.integration.nasty import Nasty

NEW_TOPIC_ID: Final = b"n" * 16
START_US: Final = 1_700_000_000_000_000
FACT: Final = "(select min(fact_no) from {schema}.fact where event_seq > 2 and fact_no < 1::bigint << 40)"
OF_EVENT: Final = "event_seq = 2 and fact_no = {fact}"
OF_FACT: Final = "fact_no = {fact}"

ACROSS: Final = {
    "recorded_at of an event": "update p2.event set recorded_at = recorded_at + interval '1 microsecond' where {event}",
    "payload": "update p2.event set payload_hash = sha256('') where {event}",
    "event gone": "delete from p2.event where {event}",
    "fact gone": "delete from p2.fact where {fact}",
    "recorded_at": "update p2.fact set recorded_at = recorded_at + interval '1 microsecond' where {fact}",
    "state": "update p2.fact set state_hash = sha256('') where {fact}",
    "conflicts": "update p2.fact set conflicts_open = conflicts_open + 1 where {fact}",
    "versions": "update p2.fact set versions = versions + 1 where {fact}",
    "label": "update p2.fact set subject_label = 'other' where {fact}",
    "identity": "update p2.fact set fact_key = 'other' where {fact}",
    "one event less": "update p2.fact set event_seq = event_seq - 1 where {fact}",
    "derived": "update p2.memory set frames = '[]' where frames::text <> '[]' and (fact_no, version_no) ="
    " (select fact_no, version_no from p2.memory where frames::text <> '[]' limit 1)",
    "parked": "delete from chronofact.parked_event where projection = 'p2' and kafka_offset ="
    " (select min(kafka_offset) from chronofact.parked_event where projection = 'p2' and partition = 0) and partition = 0",
}
GAPS: Final = {
    "event gone": "delete from p1.event where {event}",
    "last event gone": "delete from p1.event as e using p1.fact as f"
    " where e.fact_no = f.fact_no and e.event_seq = f.event_seq and f.{fact}",
    "fact gone": "delete from p1.fact where {fact}",
    "another order than the log": "update p1.event set kafka_offset = 1000000 where {event}",
    "another partition": "update p1.event set kafka_partition = 1 where {event}",
    "time falls": "update p1.event set recorded_at = recorded_at + interval '99 years' where {event}",
    "head ahead": "update p1.fact set event_seq = event_seq + 1 where {fact}",
    "head later": "update p1.fact set recorded_at = recorded_at + interval '1 second' where {fact}",
}


@pytest.fixture(scope="module")
def nasty() -> MemoryTopic:
    """A log of everything."""
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")
    topic = MemoryTopic()
    for number, one in enumerate(Nasty(seed, TOPIC_ID).messages):
        topic.append([one], appended_at=START_US + number // 3 * 1_000)
    return topic


@pytest.fixture(scope="module")
def filled(postgres: str, database_template: str, nasty: MemoryTopic) -> Iterator[str]:
    """That log in p1; what p1 keeps of it, said again in another topic, in p2."""
    with database_like(postgres, database_template) as address:
        make(address, "p2")
        fill(address, "p1", nasty, sliced(log_order(nasty), 100))
        with refill_source(address, "p1") as source:
            topic = said_by(source)
        fill(address, "p2", topic, whole_partitions(topic))
        yield address


def said_by(source: RefillSource) -> MemoryTopic:
    topic = MemoryTopic(NEW_TOPIC_ID)
    for partition in topic.partitions:
        stamps = Stamps()
        for kept in source.kept(partition):
            key, value, append_time_ms = said_again(kept, stamps)
            topic.append_raw(partition, key or b"", value or b"", appended_at=append_time_ms * 1_000)
    return topic


@pytest.fixture
def spoiling(filled: str) -> Iterator[Connection[Any]]:
    """A transaction that is rolled back."""
    with connect(filled, "test") as connection:
        yield connection
        connection.rollback()


def spoil(connection: Connection[Any], statement: str, schema: str) -> None:
    fact = FACT.format(schema=schema)
    said = statement.format(event=OF_EVENT.format(fact=fact), fact=OF_FACT.format(fact=fact))
    assert connection.execute(said).rowcount == 1, said


def test_what_is_read_back_is_projected_to_the_same(filled: str, nasty: MemoryTopic) -> None:
    with refill_source(filled, "p1") as source:
        found, (gaps, _) = source.found, source.gaps()
    ends = {one: len(messages) for one, messages in nasty.partitions.items()}
    assert found.reached == found.known == Position(TOPIC_ID, ends)
    assert (gaps, found.ahead, found.partitions) == (0, {}, len(ends))
    assert min(found.repeats, found.dropped, found.parked) > 0
    same = compare_across(filled, "p1", "p2", samples=3)
    assert same.identical, same
    assert same.events == found.events
    with connect(filled, "test") as connection:
        kept = "select count(*) > 9 and count(embedding) between 1 and count(*) - 1 from {}.memory"
        assert {connection.execute(kept.format(one)).fetchone() for one in ("p1", "p2")} == {(True,)}


@pytest.mark.parametrize("what", ACROSS)
def test_what_differs_across_topics_is_found(spoiling: Connection[Any], what: str) -> None:
    spoil(spoiling, ACROSS[what], "p2")
    found = across(spoiling, "p1", "p2", samples=1)
    assert not found.identical
    assert bool(found.further) == (what == "one event less")
    assert bool(found.parked) == (what == "parked")
    assert len(found.samples) == min(found.differences, 1)


@pytest.mark.parametrize("what", GAPS)
def test_what_is_not_whole_is_found(spoiling: Connection[Any], what: str) -> None:
    spoil(spoiling, GAPS[what], "p1")
    count, named = RefillSource(spoiling, "p1").gaps()
    assert count == len(named) == 1


def test_two_things_at_one_place_are_named(spoiling: Connection[Any]) -> None:
    spoiling.execute(
        "insert into chronofact.parked_event (projection, topic_id, partition, kafka_offset, appended_at, code, reason)"
        " select 'p1', %s, 0, min(kafka_offset), now(), 'held', '' from p1.event_p00",
        (TOPIC_ID.hex(),),
    )
    with pytest.raises(Unfit, match="two things at offset"):
        list(RefillSource(spoiling, "p1").kept(0))


def test_what_others_know_of_the_log_is_what_is_known_to_be_lost(spoiling: Connection[Any]) -> None:
    before = RefillSource(spoiling, "p1").found
    spoiling.execute(
        "update chronofact.checkpoint set next_offset = next_offset - 3 where projection = 'p1' and partition = 4"
    )
    spoiling.execute(
        "insert into chronofact.checkpoint (projection, topic_id, partition, next_offset, epoch) values ('p2', %s, 4, %s, 1)",
        (TOPIC_ID.hex(), before.reached.next_offsets[4] - 1),
    )
    spoiling.execute(
        "insert into chronofact.verification (left_projection, right_projection, rule_left, rule_right, state, aspects, topic_id, next_offsets)"
        " values ('p1', 'p2', 1, 1, 'finished', 'all', %s, %s)",
        (TOPIC_ID.hex(), [0, 0, 0, 0, before.reached.next_offsets[4] + 2]),
    )
    found = RefillSource(spoiling, "p1").found
    assert (found.lacks(found.known), found.ahead) == (5, {"p2": 2})


@pytest.mark.parametrize("projection", ["p9", "p3"])
def test_a_projection_that_is_not_there_or_of_nothing_is_named(spoiling: Connection[Any], projection: str) -> None:
    make_empty = "insert into chronofact.projection (name, rule, state) values ('p3', 1, 'ready')"
    spoiling.execute(make_empty)
    with pytest.raises(Unfit) as unfit:
        RefillSource(spoiling, projection)
    assert unfit.value.code == "projection_missing"


LINES: Final = (
    "select 't' as tenant, 's' as subject, 'global' as scope, 'k' as key, 1 as value from generate_series(1, 9999)"
)
SNAPSHOTS: Final[dict[str, Callable[[str], AbstractContextManager[Any]]]] = {
    "refill": lambda address: refill_source(address, "p1"),
    "baseline": lambda address: reading(address, LINES),
}


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_its_snapshot_is_kept_while_its_process_lives_and_vacuum_waits_for_none_that_stands_still(
    filled: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "IDLE_IN_SNAPSHOT_MS", 1_500)
    with SNAPSHOTS[name](filled) as source:
        lines = source.kept(0) if name == "refill" else source.lines()
        next(lines)
        time.sleep(2.5)
        assert [one for one, *_ in Standing(filled).long_sessions(2)] == [f"chronofact {name}"]
        assert list(lines)
    monkeypatch.setattr(holding, "alive", lambda _connection: nullcontext())
    with pytest.raises(Transient):
        stand_still(name, filled)


def stand_still(name: str, address: str) -> None:
    with SNAPSHOTS[name](address):
        time.sleep(2.5)
        assert Standing(address).long_sessions(0) == []
