"""One projector process feeds every projection that is to be fed, on real Kafka and Postgres."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psycopg
import pytest

from chronofact.kafka.admin import create_topics
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from tests.integration.projecting import ProjectorProcess, append
from tests.integration.saying import Fact

WAIT_S = 40
ADA = Fact("ada")


@pytest.fixture
def topic(kafka: str, topic_name: str, database: str) -> str:
    """Empty, with a p2 beside p1 that nothing feeds yet."""
    create_topics(kafka, topic_name)
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1, state="building")
    return topic_name


def become(database: str, projection: str, state: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update chronofact.projection set state = %s where name = %s", (state, projection))


def applied(database: str, projection: str) -> int:
    statement = "select coalesce(sum(next_offset), 0)::bigint from chronofact.checkpoint where projection = %s"
    with psycopg.connect(database, autocommit=True) as connection:
        found = connection.execute(statement, (projection,)).fetchone()
    assert found is not None
    return int(found[0])


def await_applied(database: str, projection: str, wanted: int) -> None:
    deadline = time.monotonic() + WAIT_S
    while (found := applied(database, projection)) < wanted:
        assert time.monotonic() < deadline, f"{projection}: {found} of {wanted}"
        time.sleep(0.05)


@contextmanager
def feeding(kafka: str, topic: str, database: str, **settings: object) -> Iterator[ProjectorProcess]:
    with ProjectorProcess(kafka, topic, database, **settings) as process:
        process.await_readyz()
        yield process


def test_a_projection_is_fed_as_long_as_its_state_says_so_and_after_a_kill(
    kafka: str, topic: str, database: str
) -> None:
    with feeding(kafka, topic, database) as process:
        append(kafka, topic, [ADA.asserts(f"v{number}") for number in range(20)])
        await_applied(database, "p1", 20)
        assert applied(database, "p2") == 0
        become(database, "p2", "catching_up")
        await_applied(database, "p2", 20)
        told = httpx.get(f"http://127.0.0.1:{process.port}/metrics").text
        for name in ("p1", "p2"):
            assert f'chronofact_projector_events_total{{outcome="applied",projection="{name}"}} 20.0' in told
        become(database, "p2", "retired")
        process.await_event("claimed", 2)
        time.sleep(3)
        append(kafka, topic, [ADA.asserts("more")])
        await_applied(database, "p1", 21)
        assert applied(database, "p2") == 20
        become(database, "p2", "ready")
        await_applied(database, "p2", 21)
        process.kill()
    append(kafka, topic, [ADA.asserts("after the kill")])
    with feeding(kafka, topic, database) as again:
        for name in ("p1", "p2"):
            await_applied(database, name, 22)
        assert again.stop() == 0


def test_a_fault_of_one_is_of_no_matter_to_the_other(kafka: str, topic: str, database: str) -> None:
    """p2 meets poison that p1 has passed before: too much in a row for the limit of this process."""
    poison = [Poisoned(number) for number in range(4)]
    append(kafka, topic, poison)
    with feeding(kafka, topic, database):
        await_applied(database, "p1", 4)
    become(database, "p2", "catching_up")
    with feeding(kafka, topic, database, parked_row_max=2) as process:
        assert process.await_event("failed")["projection"] == "p2"
        append(kafka, topic, [ADA.asserts("vim")])
        await_applied(database, "p1", 5)
        assert process.readyz() == []
        assert process.process.poll() is None
        assert applied(database, "p2") < 5


class Poisoned:
    """A message that is no event, on a fact of its own."""

    partition = ADA.partition
    value = b"\xc3\x01 no event"

    def __init__(self, number: int) -> None:
        self.key = number.to_bytes(16)
