"""What the reader answers in a second, single and in batches, over 100,000 facts of five versions each."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from random import Random
from uuid import UUID

import httpx
import orjson
import psycopg
import pytest

from chronofact.domain.identity import DEVELOPMENT_TENANT, FactIdentity, fact_id_of, subject_id_of
from chronofact.kafka.admin import create_topics
from tests.bench.asking import as_fast_as_can_be, at_a_rate
from tests.bench.figures import Figure, record
from tests.bench.meter import PeakMemory, cpu_s, percentile, tree

FACTS = 100_000
KEYS = 10
BATCH = 10_000
BATCHES = 4
SINGLES = 6_000
PACED_PER_S = 300
PACED = 3_000
FILL = """
insert into p1.fact
select
    (s.i % 12)::bigint << 40 | s.i, s.fact_id, %(tenant)s, s.subject_id, 'user', 'self', 'k' || s.i % 10, s.label, 5,
    '2026-01-06Z', 5, 0, 6, 0, ''
from said as s;
insert into p1.version
select
    (i % 12)::bigint << 40 | i, n, md5(i || '.' || n)::uuid, to_json('value ' || n), sha256(('v' || n)::bytea),
    timestamptz '2025-01-01Z' + n * interval '30 days', null, timestamptz '2026-01-01Z' + n * interval '1 day', n,
    'bench', '', null, 'ACTIVE', null, null, null
from said, generate_series(1, 5) as n;
insert into p1.timeline
select
    (i % 12)::bigint << 40 | i, 0, timestamptz '2026-01-01Z' + n * interval '1 day', n,
    timestamptz '2025-01-01Z' + n * interval '30 days', null, 1, null, md5('v' || n)::uuid, array[n], n
from said, generate_series(1, 5) as n;
insert into p1.timeline
select (i % 12)::bigint << 40 | i, 0, '2026-01-02Z', 1, null, '2025-01-31Z', 0, 4, null, '{}', null from said;
"""


@pytest.fixture
def filled(database: str) -> str:
    """Facts that a question can name."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("create temp table said (i bigint, fact_id uuid, subject_id uuid, label text)")
        with connection.cursor().copy("copy said from stdin") as copy:
            for number in range(FACTS):
                copy.write_row((number + 1, *_ids(number), _subject(number)))
        for statement in FILL.split(";\n"):
            connection.execute(statement.replace("%(tenant)s", f"'{DEVELOPMENT_TENANT}'"))
        for table in ("fact", "version", "timeline"):
            connection.execute(f"vacuum analyze p1.{table}")
    return database


@pytest.fixture
def reader(kafka: str, topic_name: str, filled: str) -> Iterator[tuple[int, int]]:
    """Pid and port of a reader in a process of its own."""
    create_topics(kafka, topic_name)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
        "CHRONOFACT_KAFKA": kafka,
        "CHRONOFACT_POSTGRES": filled,
        "CHRONOFACT_FACTS_TOPIC": topic_name,
        "CHRONOFACT_AUTH": "off",
        "CHRONOFACT_READER_PORT": "0",
    }
    process = subprocess.Popen([sys.executable, "-m", "chronofact.reader"], env=environ, stderr=subprocess.PIPE)
    assert process.stderr is not None
    port = orjson.loads(process.stderr.readline())["port"]
    with httpx.Client() as http:
        while http.get(f"http://127.0.0.1:{port}/readyz").status_code != 200:
            time.sleep(0.1)
    yield process.pid, port
    process.terminate()
    process.communicate(timeout=20)


def test_reader_rates(reader: tuple[int, int]) -> None:
    pid, port = reader
    with PeakMemory(pid) as memory:
        _batches(port, pid)
        _singles(port, pid)
        _paced(port)
    record(Figure("reader memory, peak", memory.mb, "MB", "at most", 200, "answers of a batch until they are sent"))


def _batches(port: int, pid: int) -> None:
    dice = Random(3)
    bodies = [orjson.dumps([_query(dice) for _ in range(BATCH)]) for _ in range(BATCHES + 1)]
    headers = {"content-type": "application/json"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=120) as http:
        http.post("/v1/resolve", content=bodies.pop())
        before, started = cpu_s(tree(pid)), time.perf_counter()
        for body in bodies:
            response = http.post("/v1/resolve", content=body)
            assert response.status_code == 200
        took, spent = time.perf_counter() - started, cpu_s(tree(pid)) - before
        found = response.json()["answers"]
    assert len(found) == BATCH
    assert {one["kind"] for one in found} == {"value", "unknown"}
    us = spent / (BATCH * BATCHES) * 1e6
    record(
        Figure(
            "resolve in batches of 10,000",
            BATCH * BATCHES / took,
            "answers/s",
            "at least",
            8_000,
            f"five look-ups each in Postgres; {us:.0f} us of the reader",
            "one look-up alone: 78-168 us with its round trip",
        )
    )


def _singles(port: int, pid: int) -> None:
    dice = Random(5)
    asks = [_path(dice) for _ in range(SINGLES)]
    before = cpu_s(tree(pid))
    rate = asyncio.run(as_fast_as_can_be(port, asks.__getitem__, lines=16, count=SINGLES))
    us = (cpu_s(tree(pid)) - before) / SINGLES * 1e6
    bounded_by = f"HTTP and psycopg in Python, {us:.0f} us a request; the client takes its share of the cores"
    record(Figure("resolve, one a request", rate, "answers/s", "at least", 1_200, bounded_by))


def _paced(port: int) -> None:
    dice = Random(7)
    asks = [_path(dice) for _ in range(PACED)]
    took = asyncio.run(at_a_rate(port, asks.__getitem__, per_s=PACED_PER_S, count=PACED))
    record(Figure("resolve p99 at 300/s", percentile(took, 0.99) * 1e3, "ms", "at most", 20, "waiting for a core"))
    record(
        Figure("resolve p50 at 300/s", percentile(took, 0.5) * 1e3, "ms", "told", None, "one round trip to Postgres")
    )


def _subject(number: int) -> str:
    return f"person {number // KEYS}"


def _ids(number: int) -> tuple[UUID, UUID]:
    subject_id = subject_id_of(DEVELOPMENT_TENANT, _subject(number))
    key = f"k{(number + 1) % KEYS}"
    return UUID(bytes=fact_id_of(FactIdentity(DEVELOPMENT_TENANT, subject_id, "user", "self", key))), subject_id


def _query(dice: Random) -> dict[str, str]:
    number = dice.randrange(FACTS)
    query = {"subject": _subject(number), "key": f"k{(number + 1) % KEYS}", "valid_at": _day(dice, 2025)}
    return query if dice.random() < 0.5 else {**query, "as_of": _day(dice, 2026)}


def _path(dice: Random) -> str:
    return "/v1/resolve?" + "&".join(f"{name}={text.replace(' ', '%20')}" for name, text in _query(dice).items())


def _day(dice: Random, year: int) -> str:
    return f"{year}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}T00:00:00Z"
