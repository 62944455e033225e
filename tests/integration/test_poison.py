"""Poison sent straight to the topic, past the writer, on real Kafka and Postgres: nothing stops, and all others are answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from confluent_kafka import Producer

from chronofact.kafka.admin import create_topics
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from tests.integration.comparing import assert_alike, told
from tests.integration.poison import Poison, corpus
from tests.integration.projecting import ProjectorProcess, ServiceProcess, append, assert_counted_once, await_offsets
from tests.integration.saying import Fact
from tests.integration.writing import WriterProcess

WAIT_S = 30


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


@pytest.fixture
def writer(kafka: str, topic: str) -> Iterator[WriterProcess]:
    with WriterProcess(kafka, topic) as process:
        yield process


@pytest.fixture
def reader(kafka: str, topic: str, database: str) -> Iterator[httpx.Client]:
    with ReaderProcess(kafka, topic, database) as process:
        process.await_readyz()
        with httpx.Client(base_url=f"http://127.0.0.1:{process.port}", timeout=30) as client:
            yield client


def until(found: Callable[[], Any], wanted: Any) -> None:
    deadline = time.monotonic() + WAIT_S
    while (got := found()) != wanted:
        assert time.monotonic() < deadline, got
        time.sleep(0.05)


def parked(database: str, projection: str = "p1") -> dict[tuple[int, int], tuple[str, bytes | None, bytes | None]]:
    with psycopg.connect(database) as connection:
        lines = connection.execute(
            "select partition, kafka_offset, code, message_key, message from chronofact.parked_event"
            " where projection = %s order by partition, kafka_offset",
            (projection,),
        ).fetchall()
    return {(partition, offset): tuple(what) for partition, offset, *what in lines}


def assert_value(writer: WriterProcess, subject: str, value: str) -> str:
    command = {
        "type": "assert",
        "subject": subject,
        "key": "package_manager",
        "value": value,
        "source": {"id": "s", "text": "t"},
    }
    response = writer.send(command)
    assert response.status_code == 201, response.text
    position: str = response.json()["position"]
    return position


def resolve(reader: httpx.Client, subject: str, after: str | None = None) -> dict[str, Any]:
    params = {"subject": subject, "key": "package_manager", **({"after": after, "wait_ms": "10000"} if after else {})}
    response = reader.get("/v1/resolve", params=params)
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    return told


def held(reader: httpx.Client, subject: str) -> tuple[bool, int | None]:
    freshness = resolve(reader, subject)["freshness"]
    return freshness["stale"], freshness.get("held")


def drop(writer: WriterProcess, topic_id: UUID, place: tuple[int, int], key: bytes | None) -> None:
    body = {
        "topic_id": str(topic_id),
        "partition": place[0],
        "offset": place[1],
        "key": (key or b"").hex(),
        "reason": "poison of a test",
    }
    response = writer.http.post("/v1/drops", json=body)
    assert response.status_code == 201, response.text


def topic_id(database: str) -> UUID:
    with psycopg.connect(database) as connection:
        found = connection.execute("select distinct topic_id from chronofact.checkpoint").fetchone()
    assert found is not None
    return UUID(str(found[0]))


def test_poison_stops_nothing_is_kept_as_it_came_and_can_be_given_up(
    kafka: str, topic: str, database: str, writer: WriterProcess, reader: httpx.Client
) -> None:
    poisons = list(corpus())
    before = Fact("before")
    with ProjectorProcess(kafka, topic, database) as projector:
        total = append(kafka, topic, [before.asserts("npm"), *(one.message for one in poisons)])
        append_without_key(kafka, topic)
        await_offsets(database, total + 1)
        kept_as_it_came(database, poisons)
        others_go_on(writer, reader)
        held_facts_say_so(writer, reader, poisons)
        given_up(database, writer, reader, poisons)
        assert projector.readyz() == []
        assert projector.events("failed") == []
        assert_counted_once(database)
        assert projector.stop() == 0


def append_without_key(kafka: str, topic: str) -> None:
    """Neither key nor value: a tombstone of nobody."""
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, None, None, 7)
    assert producer.flush(WAIT_S) == 0


def kept_as_it_came(database: str, poisons: list[Poison]) -> None:
    """Every message that parks, under its code and with its bytes; no other."""
    found = sorted((code, key or b"", value or b"") for code, key, value in parked(database).values())
    expected = [(one.code, one.message.key, one.message.value) for one in poisons if one.code is not None]
    assert found == sorted([*expected, ("message_key_malformed", b"", b"")])


def others_go_on(writer: WriterProcess, reader: httpx.Client) -> None:
    """On every partition."""
    subjects = [f"good {number}" for number in range(40)]
    positions = [assert_value(writer, subject, "pnpm") for subject in subjects]
    for subject, position in zip(subjects, positions, strict=True):
        answer = resolve(reader, subject, position)
        assert (answer["kind"], answer["value"], answer["freshness"]["stale"]) == ("value", "pnpm", False)
    assert resolve(reader, "before")["value"] == "npm"


def held_facts_say_so(writer: WriterProcess, reader: httpx.Client, poisons: list[Poison]) -> None:
    """A later event of a held fact waits, and its answer says stale; every read of every fact is answered."""
    for one in poisons:
        if one.fact is None:
            continue
        position = assert_value(writer, one.fact.label, "good")
        answer = resolve(reader, one.fact.label, None if one.holds else position)
        if one.holds:
            until(partial(held, reader, one.fact.label), (True, 2))
        else:
            assert answer["freshness"]["stale"] is False, one.name
        for path in ("events", "versions", "timeline"):
            response = reader.get(f"/v1/facts/{UUID(bytes=one.fact.fact_id)}/{path}")
            assert response.status_code in {200, 404, 409}, (one.name, path, response.text)
        listed = reader.get("/v1/facts", params={"subject": one.fact.label})
        assert listed.status_code == 200, one.name


def given_up(database: str, writer: WriterProcess, reader: httpx.Client, poisons: list[Poison]) -> None:
    """Dropped message by message; what waited behind is there, nothing is held any more."""
    for place, (code, key, _) in parked(database).items():
        if code != "held":
            drop(writer, topic_id(database), place, key)
    until(lambda: parked(database), {})
    for one in poisons:
        if one.fact is not None and one.code is not None:
            answer = resolve(reader, one.fact.label)
            assert (answer["kind"], answer["value"]) == ("value", "good"), one.name
            assert answer["freshness"]["stale"] is False
            assert "held" not in answer["freshness"], one.name


def test_a_second_projection_parks_holds_and_drops_the_same(
    kafka: str, topic: str, database: str, writer: WriterProcess
) -> None:
    poisons = [one for one in corpus() if one.fact is not None][::3]
    with ProjectorProcess(kafka, topic, database, batch_events_max=7) as projector:
        total = append(kafka, topic, [one.message for one in poisons])
        await_offsets(database, total)
        for one in poisons:
            assert one.fact is not None
            assert_value(writer, one.fact.label, "good")
        await_offsets(database, total + len(poisons))
        own = [place for place, (code, *_) in parked(database).items() if code != "held"]
        drops = [place for number, place in enumerate(own) if number % 3]
        for place in drops:
            drop(writer, topic_id(database), place, parked(database)[place][1])
        drop(writer, topic_id(database), (poisons[-1].message.partition, 0), b"what was applied or is another's")
        await_offsets(database, total + len(poisons) + len(drops) + 1)
        assert projector.stop() == 0
    first = told(database, "p1")
    assert len(first["dropped"]) == len(drops)
    assert len(first["parked"]) > len(own) - len(drops)
    # with what is known to be dropped, and without
    for projection in ("p2", "p3"):
        with connect(database, "test", autocommit=True) as connection:
            assert create_projection(connection, projection, rule=1)
        with ProjectorProcess(kafka, topic, database, projection=projection, projector_name=projection):
            until(partial(offsets, database, projection), offsets(database, "p1"))
        assert_alike(first, told(database, projection))
        with psycopg.connect(database) as connection:
            connection.execute("delete from chronofact.dropped_event")


def offsets(database: str, projection: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(database) as connection:
        return connection.execute(
            "select partition, next_offset from chronofact.checkpoint where projection = %s and next_offset > 0"
            " order by partition",
            (projection,),
        ).fetchall()
