"""A hold on real checkpoints: a batch that would pass it is refused whole, until it is let go or over by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Thread
from uuid import UUID

import psycopg
import pytest

from chronofact.contracts.projection import Lines, Step
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.postgres.verify_hold import Holds
from chronofact.runtime.failures import Held
from tests.contract.memory_log import TOPIC_ID


@pytest.fixture
def store(database: str) -> Iterator[ProjectionStore]:
    real = ProjectionStore(database, "p1")
    yield real
    real.close()


def await_waiting(database: str) -> None:
    """Until a session of this database waits for another's line."""
    statement = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    deadline = time.monotonic() + 10
    with psycopg.connect(database, autocommit=True) as connection:
        while connection.execute(statement).fetchone() == (0,):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def advance(store: ProjectionStore, epoch: int, next_offset: int) -> None:
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, next_offset)])
        batch.write(Lines())


def test_a_batch_goes_up_to_the_hold_and_not_beyond(database: str, store: ProjectionStore) -> None:
    epoch = store.claim(TOPIC_ID, 3, watermarks=(0, 100)).epoch
    holds = Holds(database)
    holds.hold("p1", {3: 10}, for_s=30)
    with pytest.raises(Held) as held:
        advance(store, epoch, 11)
    assert held.value.stop_at == {3: 10}
    advance(store, epoch, 10)
    with pytest.raises(Held):  # as a release would: what stands at the hold does not change
        advance(store, epoch, 10)
    holds.let_go("p1")
    advance(store, epoch, 10)
    advance(store, epoch, 20)


def test_what_was_passed_before_is_not_left_any_more(database: str, store: ProjectionStore) -> None:
    epoch = store.claim(TOPIC_ID, 3, watermarks=(0, 100)).epoch
    advance(store, epoch, 12)
    Holds(database).hold("p1", {3: 10}, for_s=30)
    for next_offset in (12, 13):
        with pytest.raises(Held):
            advance(store, epoch, next_offset)


def test_a_hold_waits_for_the_batch_under_way_and_holds_the_next(database: str, store: ProjectionStore) -> None:
    epoch = store.claim(TOPIC_ID, 3, watermarks=(0, 100)).epoch
    holding = Thread(target=Holds(database).hold, args=("p1", {3: 10}), kwargs={"for_s": 30})
    with store.begin() as batch:
        batch.advance(TOPIC_ID, [Step(3, epoch, 8)])
        holding.start()
        await_waiting(database)
    holding.join()
    with pytest.raises(Held):
        advance(store, epoch, 11)
    advance(store, epoch, 10)


def test_a_batch_waits_for_the_hold_under_way_and_keeps_to_it(database: str, store: ProjectionStore) -> None:
    """What it read of the checkpoint before it had to wait counts for nothing."""
    epoch = store.claim(TOPIC_ID, 3, watermarks=(0, 100)).epoch
    met: list[Held] = []

    def go_on() -> None:
        try:
            advance(store, epoch, 11)
        except Held as held:
            met.append(held)

    going = Thread(target=go_on)
    with connect(database, "test") as connection:
        wanted = {"projection": "p1", "partitions": [3], "stop_at": [10], "for_s": 30}
        connection.execute(script("verify", "hold").filled(connection), wanted)
        going.start()
        await_waiting(database)
    going.join()
    assert [held.stop_at for held in met] == [{3: 10}]


def test_a_hold_that_nobody_renews_is_over(database: str, store: ProjectionStore) -> None:
    epoch = store.claim(TOPIC_ID, 3, watermarks=(0, 100)).epoch
    Holds(database).hold("p1", {3: 10}, for_s=0)
    advance(store, epoch, 11)


def test_nothing_is_released_in_a_held_partition(database: str, store: ProjectionStore) -> None:
    store.claim(TOPIC_ID, 3, watermarks=(0, 100))
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "insert into chronofact.parked_event (projection, topic_id, partition, kafka_offset, appended_at, code,"
            " reason, release_asked_at) values ('p1', %s, 3, 4, now(), 'event_undecodable', 'made up', now())",
            (UUID(bytes=TOPIC_ID),),
        )
    holds = Holds(database)
    holds.hold("p1", {3: 10}, for_s=30)
    assert store.asked(TOPIC_ID, [3]) == []
    holds.let_go("p1")
    assert [ask.offset for ask in store.asked(TOPIC_ID, [3])] == [4]
