"""Read-your-writes over real Kafka and Postgres: no projector, two readers, a rebalance under way, and no Kafka at all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from chronofact.contracts.position import Position
from chronofact.kafka.admin import create_topics
from tests.integration.projecting import ProjectorProcess, ServiceProcess, append
from tests.integration.saying import Fact
from tests.integration.writing import WriterProcess

SUBJECTS = 6
STEPS = 40
JUNE = "2026-06-01T00:00:00Z"


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"

    def get(self, path: str, **parameters: Any) -> Any:
        response = httpx.get(f"http://127.0.0.1:{self.port}{path}", params=parameters, timeout=30, verify=False)
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


@pytest.fixture
def readers(kafka: str, topic: str, database: str) -> Iterator[list[ReaderProcess]]:
    with ExitStack() as stack:
        started = [stack.enter_context(ReaderProcess(kafka, topic, database)) for _ in range(2)]
        for one in started:
            one.await_readyz()
        yield started


@pytest.fixture
def writer(kafka: str, topic: str) -> Iterator[WriterProcess]:
    with WriterProcess(kafka, topic) as writer:
        writer.await_ready()
        yield writer


def write(writer: WriterProcess, subject: str, value: int) -> str:
    """Says the value from the day of its number on; the position."""
    command = {
        "type": "assert",
        "subject": subject,
        "key": "counter",
        "value": value,
        "valid_from": f"2026-06-01T00:{value // 60:02}:{value % 60:02}Z",
        "succession": "automatic",
        "source": {"id": "test", "text": str(value)},
    }
    response = writer.send(command)
    assert response.status_code == 201, response.text
    return str(response.json()["position"])


def test_without_any_projector_both_readers_read_what_was_written(
    writer: WriterProcess, readers: list[ReaderProcess]
) -> None:
    for value in range(10):
        after = write(writer, "ada", value)
        for reader in readers:
            body = reader.get("/v1/resolve", subject="ada", key="counter", after=after, wait_ms=0)
            assert body["value"] == value
            assert (body["freshness"]["stale"], body["freshness"]["tail_events"]) == (False, value + 1)
    history = readers[0].get(f"/v1/facts/{body['fact']['fact_id']}/events", after=after, wait_ms=0)
    assert [one["offset"] for one in history["events"]] == list(range(10))


def test_a_rebalance_hides_nothing_that_was_written(
    kafka: str, topic: str, database: str, writer: WriterProcess, readers: list[ReaderProcess]
) -> None:
    """One projector, then two, then the first is killed; a client writes and reads at either reader all the while."""
    position: str | None = None
    seen = dict.fromkeys(range(SUBJECTS), -1)
    folded = 0
    with ExitStack() as stack:
        first = stack.enter_context(ProjectorProcess(kafka, topic, database, projector_name="one"))
        for step in range(STEPS):
            if step == STEPS // 4:
                stack.enter_context(ProjectorProcess(kafka, topic, database, projector_name="two"))
            if step == STEPS // 2:
                first.kill()
            number = step % SUBJECTS
            seen[number] = step
            position = write(writer, f"subject {number}", step)
            for back, reader in enumerate(readers):
                other = (number + back) % SUBJECTS
                body = reader.get("/v1/resolve", subject=f"subject {other}", key="counter", after=position, wait_ms=20)
                if back == 0:
                    assert (body["value"], body["freshness"]["stale"]) == (seen[other], False), step
                elif not body["freshness"]["stale"] and body["kind"] == "value":
                    assert body["value"] <= seen[other]
                folded += "tail_events" in body["freshness"]
            time.sleep(0.02)
    assert folded > 0, "with one projector killed, some of the log lay unread for seconds"


def test_a_client_that_hands_on_its_positions_never_reads_older(
    kafka: str, topic: str, database: str, writer: WriterProcess, readers: list[ReaderProcess]
) -> None:
    """Two facts whose partitions differ, readers in turn, a projector that comes and goes."""
    seen = {"one": -1, "two": -1}
    position: str | None = None
    with ExitStack() as stack:
        for step in range(STEPS):
            if step == STEPS // 3:
                projector = stack.enter_context(ProjectorProcess(kafka, topic, database))
            if step == 2 * STEPS // 3:
                projector.kill()
            subject = ("one", "two")[step // 2 % 2]
            if step % 4 == 0:
                write(writer, subject, step)
            parameters = {"subject": subject, "key": "counter", "wait_ms": 0}
            if position is not None:
                parameters["after"] = position
            body = readers[step % 2].get("/v1/resolve", **parameters)
            assert body.get("value", -1) >= seen[subject], step
            seen[subject] = body.get("value", -1)
            position = body["freshness"]["position"] or position
            time.sleep(0.02)


def test_a_reader_without_kafka_says_so_and_never_calls_old_data_new(kafka: str, topic: str, database: str) -> None:
    fact = Fact("ada")
    with ProjectorProcess(kafka, topic, database), ReaderProcess(kafka, topic, database) as well:
        append(kafka, topic, [fact.asserts("npm", JUNE)])
        asked = {"subject": "ada", "key": "package_manager"}
        deadline = time.monotonic() + 30
        while (known := well.get("/v1/resolve", **asked)).get("value") != "npm":
            assert time.monotonic() < deadline
            time.sleep(0.05)
    append(kafka, topic, [fact.asserts("pnpm", "2026-07-01T00:00:00Z")])
    with ReaderProcess("127.0.0.1:1", topic, database) as cut_off:
        after = _one_more(known["freshness"]["position"], fact.partition)
        cut_off.await_readyz()
        started = time.monotonic()
        body = cut_off.get("/v1/resolve", **asked, after=after, wait_ms=0)
        assert time.monotonic() - started < 2
        assert (body["value"], body["freshness"]["stale"]) == ("npm", True)
        assert body["freshness"]["because"] == "kafka_unreachable"
        started = time.monotonic()
        listed = cut_off.get("/v1/facts", subject="ada", after=after, wait_ms=0)
        assert time.monotonic() - started < 2
        assert listed["freshness"]["stale"] is True
        while not (freshness := cut_off.get("/v1/resolve", **asked)["freshness"])["stale"]:
            assert time.monotonic() - started < 12
            time.sleep(0.2)
        assert (freshness["because"], freshness["lag_events"]) == ("log_unheard", None)
        assert freshness["lag_s"] >= 5


def _one_more(position: str, partition: int) -> str:
    found = Position.parse(position)
    return Position(found.topic_id, {partition: found.next_offsets[partition] + 1}).encode()
