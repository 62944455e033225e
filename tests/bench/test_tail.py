"""What it costs to read what was just written while no projector runs: the unread tail, folded."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import orjson
import pytest

from chronofact.contracts.position import Position
from chronofact.embedded.compiled import with_build
from chronofact.kafka.admin import Admin, create_topics
from tests.bench.asking import Line, at_a_rate
from tests.bench.figures import Figure, record
from tests.bench.meter import PeakMemory, cpu_s, percentile, tree
from tests.integration.projecting import ProjectorProcess, append, await_offsets
from tests.integration.saying import Fact

STORED = 100
UNREAD = 100
BESIDE = 2_000
"""Unread messages of other facts in the same partition."""
FOLDS = 400
FOLDING_LINES = 4
PACED_PER_S = 200
PACED = 1_000
WRITTEN = Fact("written")
QUIET = Fact("quiet", "likes")
NEIGHBOURS = [fact for n in range(500) if (fact := Fact(f"beside {n}")).partition == WRITTEN.partition]


class Subject(NamedTuple):
    """A reader in a process of its own, and the position behind all that was written."""

    pid: int
    port: int
    after: str


@pytest.fixture
def subject(kafka: str, topic_name: str, database: str) -> Iterator[Subject]:
    create_topics(kafka, topic_name)
    before = [WRITTEN.asserts(n, "2026-01-01T00:00:00Z", source=f"stored {n}") for n in range(STORED)]
    count = append(kafka, topic_name, [*before, QUIET.asserts("tea")])
    projector = ProjectorProcess(kafka, topic_name, database)
    await_offsets(database, count)
    projector.kill()
    unread = [WRITTEN.asserts(n, "2026-01-01T00:00:00Z", source=f"unread {n}") for n in range(UNREAD)]
    beside = [NEIGHBOURS[n % len(NEIGHBOURS)].asserts(n) for n in range(BESIDE)]
    count = append(kafka, topic_name, [*beside[: BESIDE // 2], *unread, *beside[BESIDE // 2 :]])
    after = Position(Admin(kafka).topic_id(topic_name), {WRITTEN.partition: STORED + count}).encode()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
        "CHRONOFACT_KAFKA": kafka,
        "CHRONOFACT_POSTGRES": database,
        "CHRONOFACT_FACTS_TOPIC": topic_name,
        "CHRONOFACT_AUTH": "off",
        "CHRONOFACT_READER_PORT": "0",
    }
    line = [sys.executable, "-m", "chronofact.reader"]
    process = subprocess.Popen(line, env=with_build(environ), stderr=subprocess.PIPE)
    assert process.stderr is not None
    port = orjson.loads(process.stderr.readline())["port"]
    with httpx.Client() as http:
        while http.get(f"http://127.0.0.1:{port}/readyz").status_code != 200:
            time.sleep(0.1)
    yield Subject(process.pid, port, after)
    process.terminate()
    process.communicate(timeout=20)


def test_tail_folds(subject: Subject) -> None:
    with PeakMemory(subject.pid) as memory:
        asyncio.run(_one_after_the_other(subject))
        asyncio.run(_beside_ordinary_reads(subject))
    record(Figure("reader memory while it folds, peak", memory.mb, "MB", "at most", 200, "four readings at once"))


async def _one_after_the_other(subject: Subject) -> None:
    line = await Line.to(subject.port)
    for _ in range(20):
        await line.get(_folded(subject))
    took = []
    spent = cpu_s(tree(subject.pid))
    for _ in range(FOLDS):
        started = time.perf_counter()
        body = orjson.loads(await line.get(_folded(subject)))
        took.append(time.perf_counter() - started)
        assert (body["freshness"]["stale"], body["freshness"]["tail_events"]) == (False, UNREAD)
        await asyncio.sleep(0.005)
    us = (cpu_s(tree(subject.pid)) - spent) / FOLDS * 1e6
    line.close()
    p50, p99 = percentile(took, 0.5) * 1e3, percentile(took, 0.99) * 1e3
    bounded_by = f"the fold of {STORED} stored and {UNREAD} unread events; {us:,.0f} us of the reader"
    record(Figure(f"tail fold of {UNREAD} events, p99", p99, "ms", "at most", 50, bounded_by))
    record(Figure(f"tail fold of {UNREAD} events, p50", p50, "ms", "told", None, f"{BESIDE:,} messages beside them"))


async def _beside_ordinary_reads(subject: Subject) -> None:
    """Ordinary reads keep their pace while others fold as fast as they can."""
    stopping = asyncio.Event()
    folds = [asyncio.create_task(_folding(subject, stopping)) for _ in range(FOLDING_LINES)]
    started = time.perf_counter()
    took = await at_a_rate(subject.port, lambda _: _plain(), per_s=PACED_PER_S, count=PACED, lines=16)
    lasted = time.perf_counter() - started
    stopping.set()
    rate = sum(await asyncio.gather(*folds)) / lasted
    p99 = percentile(took, 0.99) * 1e3
    bounded_by = f"{rate:,.0f} folds/s beside them, which share the reader's core"
    record(Figure(f"resolve p99 at {PACED_PER_S}/s beside folds", p99, "ms", "at most", 100, bounded_by))


async def _folding(subject: Subject, stopping: asyncio.Event) -> int:
    line, count = await Line.to(subject.port), 0
    while not stopping.is_set():
        await line.get(_folded(subject))
        count += 1
    line.close()
    return count


def _folded(subject: Subject) -> str:
    return f"/v1/resolve?subject=written&key=package_manager&wait_ms=0&after={subject.after}"


def _plain() -> str:
    return "/v1/resolve?subject=quiet&key=likes"
