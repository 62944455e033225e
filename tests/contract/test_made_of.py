"""Which topic a projection is fed from: the one that it was made from, though nothing of it was applied yet."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from chronofact.postgres.projection_store import ProjectionStore
from tests.contract.filling import fill, make, whole_partitions
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.integration.saying import Fact

OTHER_ID = bytes(reversed(range(16)))


def made_of(database: str, projection: str) -> bytes | None:
    store = ProjectionStore(database, projection)
    try:
        return store.made_of()
    finally:
        store.close()


def rebuilt(database: str, projection: str, topic_id: bytes) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "insert into chronofact.rebuild (projection, rule, state, workers, topic_id) values (%s, 1, 'ready', 1, %s)",
            (projection, UUID(bytes=topic_id)),
        )


@pytest.mark.parametrize("topics", [[], [TOPIC_ID], [OTHER_ID, TOPIC_ID]])
def test_one_that_was_rebuilt_from_an_empty_topic_is_of_that(database: str, topics: list[bytes]) -> None:
    make(database, "p2")
    for one in topics:
        rebuilt(database, "p2", one)
    assert made_of(database, "p2") == (topics[-1] if topics else None)
    assert made_of(database, "p1") is None


def test_what_was_applied_tells_first(database: str) -> None:
    topic = MemoryTopic(OTHER_ID)
    topic.append([Fact("ann").asserts("npm")])
    fill(database, "p1", topic, whole_partitions(topic))
    rebuilt(database, "p1", TOPIC_ID)
    assert made_of(database, "p1") == OTHER_ID
