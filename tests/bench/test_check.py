"""How many facts a second the independent check judges, with and without its table of answers, and in how much memory."""

from __future__ import annotations

import threading
from typing import Any, Self
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from chronofact.contracts.checking import CheckWanted
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import create_topics
from chronofact.kafka.checked_log import CheckedLog
from chronofact.postgres.check_store import CheckStore
from chronofact.reconciler.check import Checker, Outcome
from tests.bench.figures import Figure, record
from tests.bench.meter import PeakMemory, listening_on, server_cpu_s, tree
from tests.bench.workload import mixed
from tests.integration.projecting import ProjectorProcess, append, await_offsets

FACTS, EVENTS = 45_000, 60_000
FIFTH = (FACTS // 5, EVENTS // 5)
"""The same mixture, a fifth of it: memory must not tell."""
MIXTURE = f"{FACTS:,} facts drawn for {EVENTS:,} events: 1.8 events a fact that has any, 82 % assertions or more"
DENSE = 12_000
"""Facts of the other benches: 5 events each."""


@pytest.fixture
def filled(request: pytest.FixtureRequest, kafka: str, topic_name: str, database: str) -> str:
    create_topics(kafka, topic_name)
    facts, events = request.param
    append(kafka, topic_name, mixed(facts, events))
    with ProjectorProcess(kafka, topic_name, database) as projector:
        await_offsets(database, events, timeout_s=600)
        assert projector.stop() == 0
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("vacuum analyze")
    return database


def run(kafka: str, topic: str, database: str, **wanted: Any) -> Outcome:
    checker = Checker(CheckStore(database), lambda: CheckedLog(kafka, facts_topic(topic)), workers=2)
    outcome = checker.check(CheckWanted("p1", seed=7, **wanted))
    assert outcome.tally.divergences == 0
    return outcome


@pytest.mark.parametrize("filled", [(FACTS, EVENTS)], indirect=True)
def test_facts_a_second(kafka: str, postgres: str, topic_name: str, filled: str) -> None:
    server = listening_on(int(conninfo_to_dict(postgres).get("port") or urlsplit(postgres).port or 5432))
    before = server_cpu_s(server) if server else 0.0
    with PeakMemory(psutil.Process().pid) as memory, BackendMemory(server) as backends:
        outcome = run(kafka, topic_name, filled, with_log=False, with_adjudicated=False)
        spent = (server_cpu_s(server) - before) if server else 0.0
        with_table = run(kafka, topic_name, filled, with_log=False)
        with_log = run(kafka, topic_name, filled, with_adjudicated=False)
    facts = outcome.tally.facts
    assert outcome.tally.events == EVENTS
    record(
        Figure(
            "independent check", facts / outcome.seconds, "facts/s", "at least", 15_000,
            f"CPU of the database {spent / facts * 1e6:.0f} µs a fact", MIXTURE,
        )
    )  # fmt: skip
    record(
        Figure(
            "independent check with the adjudicated table", facts / with_table.seconds, "facts/s", "at least", 8_000,
            "the exclusion constraint: about 10 µs a stretch, a leaf a worker", MIXTURE,
        )
    )  # fmt: skip
    record(Figure("independent check with the log", facts / with_log.seconds, "facts/s", "told", None, "reading Avro"))
    record(Figure("memory of a check, client", memory.mb, "MB", "at most", 300, "streams on both sides"))
    record(Figure("memory of a check, a backend", backends.mb, "MB", "at most", 400, "a chunk at a time"))


@pytest.mark.parametrize("filled", [(DENSE, EVENTS)], indirect=True)
def test_facts_of_many_events_a_second(kafka: str, topic_name: str, filled: str) -> None:
    outcome = run(kafka, topic_name, filled, with_log=False, with_adjudicated=False)
    record(
        Figure(
            "independent check, 5 events a fact", outcome.tally.facts / outcome.seconds, "facts/s", "told", None,
            f"{outcome.tally.events / outcome.seconds:,.0f} events/s",
        )
    )  # fmt: skip


@pytest.mark.parametrize("filled", [FIFTH], indirect=True)
def test_memory_by_size(kafka: str, postgres: str, topic_name: str, filled: str) -> None:
    server = listening_on(int(conninfo_to_dict(postgres).get("port") or urlsplit(postgres).port or 5432))
    with BackendMemory(server) as backends:
        run(kafka, topic_name, filled)
    record(
        Figure("memory of a check of a fifth as much, a backend", backends.mb, "MB", "told", None, "a chunk at a time")
    )


class BackendMemory:
    """The largest backend while the block runs, shared memory left out, in MB."""

    def __init__(self, server: int | None) -> None:
        self._server = server
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.mb = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while self._server is not None and not self._done.wait(0.2):
            for process in tree(self._server):
                try:
                    info = process.memory_info()
                except psutil.Error:
                    continue
                self.mb = max(self.mb, (info.rss - info.shared) / 1e6)
