"""What writer and reader take and answer over HTTP, one process each, with broker and database on the same cores."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

import orjson
import psutil
import pytest

from chronofact.kafka.admin import create_topics
from tests.bench.figures import Figure, record
from tests.bench.load import Outcome, as_fast_as_it_goes, at_a_rate, request
from tests.bench.meter import PeakMemory, cpu_s, percentile
from tests.contract.writing import assertion
from tests.integration.fixtures_stack import database_like
from tests.integration.projecting import ProjectorProcess, ServiceProcess, await_offsets

BATCH, BATCHES = 1_000, 60
SUBJECTS, SLOTS = 4_000, 5
SINGLES, RATE_S = 6_000, 10
QUERIES, QUERY_BATCHES = 500, 60
WRITER_MB = READER_MB = 200


class Writer(ServiceProcess):
    service = "writer"


class Reader(ServiceProcess):
    service = "reader"


def command(random: Random, number: int) -> dict[str, Any]:
    return assertion(
        subject=f"subject-{random.randrange(SUBJECTS)}",
        key=f"slot_{random.randrange(SLOTS)}",
        value={"said": f"value {number % 40}", "note": f"as told in conversation {number}, turn 3"},
        valid_from=f"20{random.randrange(10, 26)}-0{random.randrange(1, 10)}-15T00:00:00Z",
        succession="automatic",
        source={"id": f"conversation:{number}", "hash": f"{number:064x}"},
    )


def write_bodies(count: int, *, seed: int) -> list[bytes]:
    random = Random(seed)
    return [
        request("POST", "/v1/events", orjson.dumps([command(random, place * BATCH + n) for n in range(BATCH)]))
        for place in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Written:
    """A topic that a writer filled over HTTP, a database for it, and how that went."""

    topic: str
    database: str
    outcome: Outcome
    cpu_us: float
    memory_mb: float


@pytest.fixture(scope="module")
def written(kafka: str, postgres: str, database_template: str) -> Iterator[Written]:
    topic = f"bench.facts.{uuid4().hex}"
    create_topics(kafka, topic)
    bodies = write_bodies(BATCHES, seed=1)
    with database_like(postgres, database_template) as database:
        with Writer(kafka, topic, database) as writer, PeakMemory(writer.process.pid) as memory:
            writer.await_readyz()
            process = psutil.Process(writer.process.pid)
            asyncio.run(as_fast_as_it_goes(writer.port, write_bodies(4, seed=2), connections=2))
            before = cpu_s([process])
            outcome = asyncio.run(as_fast_as_it_goes(writer.port, bodies, connections=4))
            spent = cpu_us(process, before, BATCH * BATCHES)
        yield Written(topic, database, outcome, spent, memory.mb)


def cpu_us(process: psutil.Process, before: float, count: int) -> float:
    return (cpu_s([process]) - before) / count * 1e6


def test_writer_in_batches_of_a_thousand(written: Written) -> None:
    assert written.outcome.statuses == {200: BATCHES}
    bound = f"CPU of the writer: {written.cpu_us:.0f} µs a command"
    facts_per_s = written.outcome.per_s * BATCH
    record(Figure("writer over HTTP, batches of 1,000", facts_per_s, "facts/s", "at least", 12_000, bound))
    record(Figure("memory of the writer", written.memory_mb, "MB", "at most", WRITER_MB, "bodies, producer's queue"))


def test_reader_answers(kafka: str, written: Written) -> None:
    topic, database = written.topic, written.database
    with ProjectorProcess(kafka, topic, database) as projector:
        await_offsets(database, BATCH * BATCHES, timeout_s=300)
        assert projector.stop() == 0
    with Reader(kafka, topic, database) as reader, PeakMemory(reader.process.pid) as memory:
        reader.await_readyz()
        process = psutil.Process(reader.process.pid)
        singles, batches = questions(Random(3))
        asyncio.run(as_fast_as_it_goes(reader.port, singles[:500], connections=4))
        before = cpu_s([process])
        fast = asyncio.run(as_fast_as_it_goes(reader.port, singles, connections=8))
        single_us = cpu_us(process, before, len(singles))
        steady = asyncio.run(at_a_rate(reader.port, singles[: 300 * RATE_S], per_s=300, connections=32))
        before = cpu_s([process])
        many = asyncio.run(as_fast_as_it_goes(reader.port, batches, connections=2))
        many_us = cpu_us(process, before, QUERIES * QUERY_BATCHES)
    for outcome in (fast, steady, many):
        assert outcome.statuses.keys() == {200}
    told(fast, steady, many, single_us, many_us)
    record(Figure("memory of the reader", memory.mb, "MB", "at most", READER_MB, "pool, caches of scopes"))


def questions(random: Random) -> tuple[list[bytes], list[bytes]]:
    """Single resolves by GET, and batches by POST, at instants now and past."""

    def query() -> dict[str, str]:
        return {
            "subject": f"subject-{random.randrange(SUBJECTS)}",
            "key": f"slot_{random.randrange(SLOTS)}",
            "valid_at": f"20{random.randrange(10, 28)}-06-01T00:00:00Z",
        }

    singles = ["&".join(f"{name}={said}" for name, said in query().items()) for _ in range(SINGLES)]
    return (
        [request("GET", f"/v1/resolve?{one}") for one in singles],
        [request("POST", "/v1/resolve", orjson.dumps([query() for _ in range(QUERIES)])) for _ in range(QUERY_BATCHES)],
    )


def told(fast: Outcome, steady: Outcome, many: Outcome, single_us: float, many_us: float) -> None:
    p99_ms = 1_000 * percentile(steady.delays_s, 0.99)
    apart = f"CPU of the reader: {single_us:.0f} µs an answer, then Postgres"
    record(Figure("single resolve over HTTP", fast.per_s, "answers/s", "at least", 1_200, apart))
    record(Figure("single resolve at 300/s, p99", p99_ms, "ms", "at most", 20, "the two cores' other work"))
    apart = f"CPU of the reader: {many_us:.0f} µs an answer"
    record(Figure(f"resolve in batches of {QUERIES}", many.per_s * QUERIES, "answers/s", "at least", 8_000, apart))
