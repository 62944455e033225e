"""A hold on real checkpoints: a batch that would pass it is refused whole, until it is let go or over by itself."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from chronofact.contracts.projection import Lines, Step
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.verify_hold import Holds
from chronofact.runtime.failures import Held
from tests.contract.memory_log import TOPIC_ID


@pytest.fixture
def store(database: str) -> Iterator[ProjectionStore]:
    real = ProjectionStore(database, "p1")
    yield real
    real.close()


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
    advance(store, epoch, 10)
    holds.let_go("p1")
    advance(store, epoch, 20)


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
