"""A whole rebuild by the reconciler: how fast, where its time goes, what it takes of memory, what it costs live reads' freshness."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from chronofact.kafka.admin import create_topics
from tests.bench.figures import Figure, record
from tests.bench.meter import PeakMemory, cpu_s, listening_on, percentile, server_cpu_s, tree
from tests.bench.test_projector_rate import Steps, produce_evenly, visible_at, watch_checkpoints
from tests.bench.workload import mixed
from tests.integration.projecting import ProjectorProcess, append, await_offsets
from tests.integration.rebuild_world import OVER, Rebuilding
from tests.integration.rebuilding import WORKER

EVENTS, FACTS = 1_000_000, 200_000
LARGE_EVENTS, LARGE_FACTS = 4_000_000, 800_000
LOAD_RATE, WHOLE_RATE, LIVE_TIMES, MEMORY_MB, VERIFY_RATE = 35_000, 22_000, 2.0, 500, 100_000
LIVE_FACTS, LIVE_RATE, LIVE_P99_MS = 20_000, 500, 1_000
PHASES = ("plan_s", "load_s", "index_s", "catch_up_s", "verify_s")
LOOK_S = 0.25
"""Between two looks at a rebuild, which take from the cores that it runs on."""


class Watched:
    """A rebuild until it is over, with the largest worker beside it."""

    def __init__(self, world: Rebuilding, reconciler: int, stack: ExitStack) -> None:
        address = f"http://127.0.0.1:{world.port}/v1/"
        # one client for all looks: each made anew reads all root certificates, 20 ms of CPU
        self._http = stack.enter_context(httpx.Client(base_url=address))
        self._reconciler = psutil.Process(reconciler)
        self._stack = stack
        self._memory: dict[int, PeakMemory] = {}
        self.states: list[tuple[float, str]] = []
        """Each state of the last rebuild, and when it was first seen."""

    def rebuilt(self, timeout_s: float = 3_600.0) -> dict[str, Any]:
        """Begun, and ready."""
        started = self._http.post("rebuilds", json={"workers": 2})
        assert started.status_code == 202, started.text
        deadline = time.monotonic() + timeout_s
        self.states = []
        while (found := self._http.get(f"rebuilds/{started.json()['id']}").json())["state"] not in OVER:
            assert time.monotonic() < deadline, found
            if not self.states or self.states[-1][1] != found["state"]:
                self.states.append((time.monotonic(), found["state"]))
            self._look()
            time.sleep(LOOK_S)
        assert found["state"] == "ready", found
        return dict(found)

    def _look(self) -> None:
        for child in self._reconciler.children(recursive=True):
            if child.pid not in self._memory and WORKER in "\0".join([*child.cmdline(), ""]).encode():
                self._memory[child.pid] = self._stack.enter_context(PeakMemory(child.pid))

    @property
    def mb(self) -> float:
        return max((one.mb for one in self._memory.values()), default=0.0)


@contextmanager
def costs(kafka: str, postgres: str, **processes: list[int]) -> Iterator[dict[str, float]]:
    """CPU seconds of broker, database and these while the block runs; what they started and what has ended is in it."""
    broker = listening_on(int(kafka.rsplit(":", 1)[1]))
    server = listening_on(int(conninfo_to_dict(postgres).get("port") or urlsplit(postgres).port or 5432))

    def spent() -> dict[str, float]:
        return {
            "broker": cpu_s(tree(broker)) if broker else 0.0,
            "database": server_cpu_s(server) if server else 0.0,
            **{name: sum(map(server_cpu_s, pids)) for name, pids in processes.items()},
        }

    before = spent()
    found: dict[str, float] = {}
    yield found
    found |= {name: seconds - before[name] for name, seconds in spent().items()}


def phases_of(found: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(found["phases"].get(name, 0.0)) for name in PHASES}


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(
    ("events", "facts"),
    [(EVENTS, FACTS), pytest.param(LARGE_EVENTS, LARGE_FACTS, marks=[pytest.mark.soak, pytest.mark.timeout(3_600)])],
)
def test_rebuild(kafka: str, postgres: str, topic_name: str, database: str, events: int, facts: int) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(facts, events))
    world = Rebuilding(kafka, topic_name, database)
    with ExitStack() as stack:
        names = ("bench-1", "bench-2")
        projectors = [stack.enter_context(projector(world, name)) for name in names]
        for one in projectors:
            one.await_event("claimed")
        began = time.monotonic()
        await_offsets(database, events, timeout_s=3_000)
        live = events / (time.monotonic() - began)
        at_rest(database)
        reconciler = stack.enter_context(world.reconciler())
        world.ready(reconciler)
        watched = Watched(world, reconciler.process.pid, stack)
        pids = {"projectors": [one.process.pid for one in projectors], "rebuild": [reconciler.process.pid]}
        with costs(kafka, postgres, **pids) as spent:
            began = time.monotonic()
            found = watched.rebuilt()
            seconds = time.monotonic() - began
        told(f"rebuild of {events:,} events on {facts:,} facts", events, seconds, found, spent)
        rate = events / phases_of(found)["load_s"]
        of_live = f"live {live:,.0f} events/s, two processes; a rebuild whole {events / seconds / live:.1f} times"
        record(Figure(f"load of {events:,} events, beside live", rate / live, "times", "at least", LIVE_TIMES, of_live))
        record(Figure(f"a worker, {events:,} events", watched.mb, "MB", "at most", MEMORY_MB, "a bucket, a partition"))
        if events == EVENTS:
            beside_live(world, watched)


def at_rest(database: str) -> None:
    """What server and system do by themselves after a million events, done: a rebuild is not to be measured with it."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("vacuum (analyze)")
        connection.execute("checkpoint")
    os.sync()  # the log's own pages, which the broker leaves to the system to write


def projector(world: Rebuilding, name: str) -> ProjectorProcess:
    return ProjectorProcess(world.kafka, world.topic, world.database, projector_name=name)


def told(name: str, events: int, seconds: float, found: Mapping[str, Any], spent: Mapping[str, float]) -> None:
    phases = phases_of(found)
    of_cpu = ", ".join(f"{who} {of / events * 1e6:.0f}" for who, of in spent.items())
    shares = ", ".join(f"{phase.removesuffix('_s')} {took / seconds:.0%}" for phase, took in phases.items())
    beside = "the database alone 174,000; a naive client without edges or conflicts 53,000-63,000"
    load, whole = events / phases["load_s"], events / seconds
    record(Figure(f"{name}, load", load, "events/s", "at least", LOAD_RATE, "both cores", beside))
    record(Figure(f"{name}, verified", whole, "events/s", "at least", WHOLE_RATE, f"CPU µs an event: {of_cpu}", shares))
    rate = found["facts"] / phases["verify_s"]
    record(Figure(f"{name}, verification", rate, "facts/s", "told", None, "cut, hold and snapshots are in it"))


def beside_live(world: Rebuilding, watched: Watched) -> None:
    """The same again under even traffic: how late what is said meanwhile becomes visible where tenants read."""
    produced: dict[tuple[int, int], float] = {}
    said = mixed(LIVE_FACTS, EVENTS, seed=11, prefix="live")
    visible: Steps = {}
    stop = threading.Event()
    working = [
        threading.Thread(target=produce_evenly, args=(world.kafka, world.topic, said, produced, LIVE_RATE, stop)),
        threading.Thread(target=watch_checkpoints, args=(world.database, None), kwargs={"stop": stop, "seen": visible}),
    ]
    for one in working:
        one.start()
    began = time.monotonic()
    found = watched.rebuilt()
    seconds = time.monotonic() - began
    time.sleep(1)
    stop.set()
    for one in working:
        one.join()
    with psycopg.connect(world.database) as connection:
        found_ends = connection.execute(
            "select partition, next_offset from chronofact.checkpoint where projection = 'p1'"
        ).fetchall()
    ends: dict[int, int] = dict(found_ends)
    by_state: dict[str, list[float]] = {}
    for place, at in produced.items():
        if began <= at < began + seconds and place[1] < ends[place[0]]:
            state = watched.states[max(0, bisect_right(watched.states, (at,)) - 1)][1]
            by_state.setdefault(state, []).append(1_000 * (visible_at(visible[place[0]], place[1]) - at))
    delays = [delay for some in by_state.values() for delay in some]
    assert len(delays) > 0.9 * LIVE_RATE * seconds
    shares = ", ".join(f"{phase.removesuffix('_s')} {took:.0f} s" for phase, took in phases_of(found).items())
    p99 = percentile(delays, 0.99)
    each = ", ".join(f"{state} {percentile(some, 0.99):.0f}" for state, some in by_state.items())
    told_of = f"p50 {percentile(delays, 0.5):.0f} ms, max {max(delays):.0f} ms; p99 by state: {each}; {shares}"
    name = f"produce-to-visible at {LIVE_RATE}/s during a rebuild, p99"
    record(Figure(name, p99, "ms", "at most", LIVE_P99_MS, told_of))
