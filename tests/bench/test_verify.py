"""How many facts a second two projections are held against each other, beside one plain sum over the same lines."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable

import psycopg
import pytest

from chronofact.contracts.verification import Aspects
from tests.bench.figures import Figure, record
from tests.bench.workload import mixed
from tests.contract.filling import fill, log_order, make, sliced, whole_partitions
from tests.contract.memory_log import MemoryTopic
from tests.contract.verifying import verified

FACTS, EVENTS = 100_000, 500_000
BASE = 1_796_000_000_000_000
TABLES = (
    "fact",
    "event",
    "version",
    "version_label",
    "edge",
    "ending",
    "decision",
    "relation",
    "conflict",
    "timeline",
    "memory",
    "checked",
)
RUNS = 3


@pytest.fixture
def pair(database: str) -> str:
    """p1 as a projector fills it, p2 as a rebuild does."""
    topic = MemoryTopic()
    for number, said in enumerate(mixed(FACTS, EVENTS)):
        topic.append([said], appended_at=BASE + number * 50)
    make(database, "p2")
    works: list[Callable[[], None]] = [
        lambda: fill(database, "p1", topic, sliced(log_order(topic), 2_000)),
        lambda: fill(database, "p2", topic, whole_partitions(topic)),
    ]
    fork = multiprocessing.get_context("fork")
    filling = [fork.Process(target=work) for work in works]
    for one in filling:
        one.start()
    for one in filling:
        one.join()
        assert one.exitcode == 0
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("vacuum (freeze, analyze)")
    return database


def plain_sums(database: str) -> float:
    """Both sides at once, a session each: every line as text, hashed and summed; no fact could be told from it."""

    def read(projection: str) -> None:
        with psycopg.connect(database) as connection:
            connection.execute("set max_parallel_workers_per_gather = 0")
            for table in TABLES:
                connection.execute(f"select count(*), sum(hashtext(t::text)) from {projection}.{table} as t")

    started = time.monotonic()
    threads = [threading.Thread(target=read, args=(name,)) for name in ("p1", "p2")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return time.monotonic() - started


@pytest.mark.timeout(1_800)
def test_facts_a_second(pair: str) -> None:
    plain, seconds, said = [], [], []
    for _ in range(RUNS):
        plain.append(plain_sums(pair))
        outcome, _ = verified(pair)
        assert outcome.identical
        seconds.append(outcome.seconds)
        said.append(verified(pair, aspects=Aspects.SAID)[0].seconds)
    facts, least = outcome.facts, min(seconds)
    record(
        Figure(
            "verification of two projections", facts / least, "facts/s", "at least", 100_000,
            f"{least:.2f} s for {outcome.lines:,} lines a side; {EVENTS:,} events; best of {RUNS}",
            f"sum(hashtext(line::text)) over the same lines, a session a side: {min(plain):.2f} s",
        )
    )  # fmt: skip
    record(Figure("the same beside the plain sum", min(plain) / least, "times as fast", "at least", 1.2, "same run"))
    record(Figure("verification of what was said", facts / min(said), "facts/s", "told", None, "another rule"))
