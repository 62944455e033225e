"""How fast a rebuild loads the log, where its time goes, what it takes of memory, and how that compares with the live projector."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from chronofact.contracts.rebuilding import RebuildPart
from chronofact.kafka.admin import create_topics
from chronofact.reconciler.rebuilding.load import load, plan
from tests.bench.figures import Figure, record
from tests.bench.meter import PeakMemory, cpu_s, listening_on, server_cpu_s, tree
from tests.bench.workload import mixed
from tests.integration.projecting import ProjectorProcess, append, await_offsets
from tests.integration.rebuilding import settings_for, taken, worker_pids

EVENTS, FACTS = 1_000_000, 200_000
LARGE_EVENTS, LARGE_FACTS = 4_000_000, 800_000
LOAD_RATE, LIVE_TIMES, MEMORY_MB = 35_000, 2.0, 500
LIVE_EVENTS = 200_000
"""Of the same topic's first, so that a run does not take minutes more; the rate does not fall behind them."""


class Watching:
    """Peak memory of each worker, from inside the load's reports."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._memory: dict[int, PeakMemory] = {}

    def report(self, _parts: Sequence[RebuildPart]) -> None:
        for pid in worker_pids():
            if pid not in self._memory:
                self._memory[pid] = self._stack.enter_context(PeakMemory(pid))

    @property
    def mb(self) -> float:
        return max((one.mb for one in self._memory.values()), default=0.0)


@contextmanager
def costs(kafka: str, postgres: str) -> Iterator[dict[str, float]]:
    """CPU seconds of broker and database, those of ended sessions with them, while the block runs."""
    broker = listening_on(int(kafka.rsplit(":", 1)[1]))
    server = listening_on(int(conninfo_to_dict(postgres).get("port") or urlsplit(postgres).port or 5432))

    def spent() -> dict[str, float]:
        return {
            "broker": cpu_s(tree(broker)) if broker else 0.0,
            "database": server_cpu_s(server) if server else 0.0,
            "workers": sum(ended_cpu_s()),
        }

    before = spent()
    found: dict[str, float] = {}
    yield found
    found |= {name: seconds - before[name] for name, seconds in spent().items()}


def ended_cpu_s() -> tuple[float, float]:
    """Of children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime


def live_rate(kafka: str, topic: str, database: str, events: int) -> float:
    """Events a second of two projectors, as `chronofact up` runs them, from their claim until so many are applied."""
    with ExitStack() as stack:
        projectors = [
            stack.enter_context(ProjectorProcess(kafka, topic, database, projector_name=f"bench-{number}"))
            for number in range(2)
        ]
        for one in projectors:
            one.await_event("claimed")
        began = time.monotonic()
        await_offsets(database, events, timeout_s=600)
        return events / (time.monotonic() - began)


def phases_of(database: str) -> Mapping[str, float]:
    with psycopg.connect(database) as connection:
        found = connection.execute("select phases from chronofact.rebuild").fetchone()
    assert found is not None
    return {name: float(seconds) for name, seconds in found[0].items()}


@pytest.mark.parametrize(
    ("events", "facts"),
    [(EVENTS, FACTS), pytest.param(LARGE_EVENTS, LARGE_FACTS, marks=[pytest.mark.soak, pytest.mark.timeout(3_600)])],
)
def test_load_of_a_rebuild(kafka: str, postgres: str, topic_name: str, database: str, events: int, facts: int) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(facts, events))
    live = live_rate(kafka, topic_name, database, LIVE_EVENTS)
    settings = settings_for(kafka, topic_name, database)
    with taken(database) as rebuild, ExitStack() as stack, costs(kafka, postgres) as spent:
        watching = Watching(stack)
        began = time.monotonic()
        result = load(settings, plan(settings, rebuild), report=watching.report, stopping=threading.Event())
        seconds = time.monotonic() - began
    assert (result.messages, result.events) == (events, events)
    phases = phases_of(database)
    shares = ", ".join(f"{name} {share / seconds:.0%}" for name, share in phases.items())
    of_cpu = ", ".join(f"{name} {of / events * 1e6:.0f}" for name, of in spent.items())
    name = f"rebuild of {events:,} events on {facts:,} facts"
    rate = events / phases["load_s"]
    record(Figure(f"{name}, load", rate, "events/s", "at least", LOAD_RATE, f"CPU µs an event, all: {of_cpu}"))
    beside = "the database alone 174,000; a naive client without edges or conflicts 53,000-63,000"
    record(Figure(f"{name}, with indexes", events / seconds, "events/s", "told", None, shares, beside))
    record(Figure(f"{name}, beside live", rate / live, "times", "at least", LIVE_TIMES, f"live {live:,.0f} events/s"))
    record(Figure(f"memory of a worker, {events:,} events", watching.mb, "MB", "at most", MEMORY_MB, "a partition"))
