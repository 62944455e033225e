"""What every store promises about parked messages: the twin in memory and Postgres alike."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from uuid import UUID

import psycopg
import pytest

from chronofact.contracts.projection import (
    HELD,
    Ask,
    DroppedLine,
    Lines,
    ParkedLine,
    ParkedMessage,
    ReleasedLine,
    RetriedLine,
    Step,
)
from chronofact.postgres.parking_store import ParkingStore, Which
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projecting.ports import Store
from chronofact.runtime.failures import ConstraintBroken
from tests.contract.memory_log import TOPIC_ID
from tests.contract.memory_store import MemoryStore

WHOLE = (0, 1_000)
OTHER_TOPIC = bytes(range(1, 17))
ADA, BOB = bytes([7]) * 16, bytes([8]) * 16
SECONDS = 1_000_000


@pytest.fixture(params=["twin", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "twin":
        yield MemoryStore()
        return
    real = ProjectionStore(request.getfixturevalue("database"), "p1")
    yield real
    real.close()


@pytest.fixture
def epoch(store: Store) -> int:
    return store.claim(TOPIC_ID, 3, watermarks=WHOLE).epoch


def parked(
    offset: int, fact_id: bytes | None = ADA, *, code: str = "event_undecodable", key: bytes = ADA
) -> ParkedLine:
    return ParkedLine(3, offset, 1_764_000_000_123_456, key, b"bytes \x00 \xff %d" % offset, code, "why", fact_id)


def message(line: ParkedLine) -> ParkedMessage:
    return ParkedMessage(line.kafka_partition, line.kafka_offset, line.appended_at, line.key, line.value, line.fact_id)


def write(store: Store, lines: Lines, *, epoch: int) -> None:
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 100)])
        batch.write(lines)


def all_of(store: Store, fact_id: bytes, *, epoch: int, messages_max: int = 100) -> list[ParkedMessage]:
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 100)])
        return list(batch.parked_of(3, fact_id, messages_max=messages_max))


def at(store: Store, offset: int, *, epoch: int) -> ParkedMessage | None:
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 100)])
        return batch.parked_at(3, offset)


def ask(store: Store, fact_id: bytes | None, *, offset: int | None = None) -> int:
    """As the command line does."""
    if isinstance(store, MemoryStore):
        return store.ask(TOPIC_ID, 3, fact_id=fact_id, offset=offset)
    assert isinstance(store, ProjectionStore)
    with ParkingStore(store._conninfo, "p1") as parking:
        return len(parking.ask(Which(None if fact_id is None else UUID(bytes=fact_id), 3, offset)).places)


def test_parked_messages_come_back_as_they_came_in_order(store: Store, epoch: int) -> None:
    lines = [parked(9, code=HELD), parked(4), parked(5, BOB, key=BOB), parked(6, code=HELD)]
    write(store, Lines(parked=lines), epoch=epoch)
    assert all_of(store, ADA, epoch=epoch) == [message(lines[1]), message(lines[3]), message(lines[0])]
    assert all_of(store, ADA, epoch=epoch, messages_max=1) == [message(lines[1])]
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 100)])
        assert [one.offset for one in batch.parked_of(3, ADA, messages_max=9, after=4)] == [6, 9]
    assert at(store, 5, epoch=epoch) == message(lines[2])
    assert at(store, 7, epoch=epoch) is None


def test_an_empty_key_and_an_empty_message_stay_empty(store: Store, epoch: int) -> None:
    line = ParkedLine(3, 4, 5_000, b"", b"", "message_key_malformed", "why", None)
    write(store, Lines(parked=[line]), epoch=epoch)
    assert at(store, 4, epoch=epoch) == message(line)


def test_what_is_released_is_parked_no_more(store: Store, epoch: int) -> None:
    write(store, Lines(parked=[parked(4), parked(5, code=HELD)]), epoch=epoch)
    ask(store, ADA)
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 100)])
        batch.write(Lines(released=[ReleasedLine(3, 4)]))
        assert [one.offset for one in batch.parked_of(3, ADA, messages_max=9)] == [5]
        batch.write(Lines(released=[ReleasedLine(3, 5)]))
        assert list(batch.parked_of(3, ADA, messages_max=9)) == []
    heir = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert (heir.held, heir.parked_offsets, heir.parked) == (frozenset(), (), 0)
    assert list(store.asked(TOPIC_ID, [3])) == []


def test_what_is_dropped_is_parked_no_more_and_every_new_owner_knows(store: Store, epoch: int) -> None:
    write(store, Lines(parked=[parked(4), parked(5, code=HELD)]), epoch=epoch)
    dropped = DroppedLine(3, 4, ADA, 6, "ada", "no use", 5 * SECONDS)
    for line in (dropped, dropped._replace(drop_offset=7, reason="said again")):
        write(store, Lines(dropped=[line]), epoch=epoch)
    heir = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert (heir.held, heir.dropped, heir.parked) == (frozenset({ADA}), {4: ADA}, 1)
    assert store.claim(TOPIC_ID, 2, watermarks=WHOLE).dropped == {}


def test_an_ask_names_a_fact_once_or_a_message_of_no_fact(store: Store, epoch: int) -> None:
    lines = [parked(4), parked(5, code=HELD), parked(6, None, key=b"short"), parked(7, BOB), parked(8, None, key=b"")]
    write(store, Lines(parked=lines), epoch=epoch)
    assert list(store.asked(TOPIC_ID, [3])) == []
    assert ask(store, ADA) == 2
    assert ask(store, None, offset=6) == 1
    assert ask(store, None, offset=8) == 1
    asked = [Ask(3, ADA, 4), Ask(3, None, 6), Ask(3, None, 8)]
    assert list(store.asked(TOPIC_ID, [1, 3])) == asked
    assert list(store.asked(TOPIC_ID, [1, 2])) == []
    assert list(store.asked(OTHER_TOPIC, [3])) == []


def test_a_try_in_vain_is_noted_and_asks_no_more(store: Store, epoch: int) -> None:
    write(store, Lines(parked=[parked(4), parked(5, code=HELD), parked(7, BOB)]), epoch=epoch)
    ask(store, ADA)
    ask(store, BOB)
    write(store, Lines(retried=[RetriedLine(3, 4, ADA, "constraint_broken", "now")]), epoch=epoch)
    assert list(store.asked(TOPIC_ID, [3])) == [Ask(3, BOB, 7)]
    assert [one.offset for one in all_of(store, ADA, epoch=epoch)] == [4, 5]


def test_a_message_is_parked_once(store: Store, epoch: int) -> None:
    write(store, Lines(parked=[parked(4)]), epoch=epoch)
    with pytest.raises(ConstraintBroken):
        write(store, Lines(parked=[parked(4)]), epoch=epoch)


def test_a_release_and_a_drop_that_are_rolled_back_leave_all_as_it_was(store: Store, epoch: int) -> None:
    write(store, Lines(parked=[parked(4), parked(5, code=HELD)]), epoch=epoch)
    ask(store, ADA)
    with suppress(ZeroDivisionError), store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 100)])
        batch.write(Lines(dropped=[DroppedLine(3, 4, ADA, 6, "ada", "no use", 5 * SECONDS)]))
        batch.write(Lines(released=[ReleasedLine(3, 5)]))
        raise ZeroDivisionError
    heir = store.claim(TOPIC_ID, 3, watermarks=WHOLE)
    assert (heir.held, heir.dropped, heir.parked) == (frozenset({ADA}), {}, 2)
    assert list(store.asked(TOPIC_ID, [3])) == [Ask(3, ADA, 4)]


def test_what_another_projection_dropped_is_known_to_all(database: str) -> None:
    store = ProjectionStore(database, "p1")
    epoch = store.claim(TOPIC_ID, 3, watermarks=WHOLE).epoch
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "insert into chronofact.dropped_event values ('p0', %s, 3, 11, null, 12, 'ada', 'no use', now())",
            (UUID(bytes=TOPIC_ID),),
        )
    assert store.claim(TOPIC_ID, 3, watermarks=WHOLE).dropped == {11: b""}
    assert store.claim(TOPIC_ID, 3, watermarks=WHOLE).epoch_before > epoch
    store.close()


def test_releases_are_numbered_in_the_order_in_which_they_can_be_seen(database: str) -> None:
    first, second = ProjectionStore(database, "p1"), ProjectionStore(database, "p1")
    steps = []
    for partition, store in enumerate((first, second)):
        epoch = store.claim(TOPIC_ID, partition, watermarks=WHOLE).epoch
        steps.append(Step(partition, epoch, 9))
        with store.begin() as batch:
            batch.advance(TOPIC_ID, steps[-1:])
            batch.write(Lines(parked=[parked(offset)._replace(kafka_partition=partition) for offset in (1, 2)]))

    def release(store: ProjectionStore, step: Step) -> None:
        with store.begin() as batch:
            batch.advance(TOPIC_ID, [step])
            batch.write(Lines(released=[ReleasedLine(step.partition, 2), ReleasedLine(step.partition, 1)]))

    with ThreadPoolExecutor(1) as beside:
        with first.begin() as batch:
            batch.advance(TOPIC_ID, steps[:1])
            batch.write(Lines(released=[ReleasedLine(0, 2), ReleasedLine(0, 1)]))
            waiting = beside.submit(release, second, steps[1])
            assert not wait([waiting], timeout=0.3).done
        waiting.result(10)
    first.close()
    second.close()
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "select partition, kafka_offset from chronofact.released_event order by number"
        ).fetchall()
    assert found == [(0, 1), (0, 2), (1, 1), (1, 2)]
