"""How fast the projector follows the log, how soon an event can be read, and what that costs."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import count, islice
from operator import itemgetter
from typing import TypeAlias
from urllib.parse import urlsplit

import psycopg
import pytest
from confluent_kafka import Message, Producer
from psycopg.conninfo import conninfo_to_dict

from chronofact.kafka.admin import create_topics
from tests.bench.figures import Figure, record
from tests.bench.meter import PeakMemory, cpu_s, listening_on, percentile, tree
from tests.bench.workload import mixed
from tests.integration.projecting import ProjectorProcess, append, assert_counted_once, await_offsets
from tests.integration.saying import Said

FACTS, EVENTS = 12_000, 60_000
LATENCY_RATE, LATENCY_S = 1_000, 15
MEMORY_MB = 350

Steps: TypeAlias = "dict[int, list[tuple[int, float]]]"
"""By partition: each next offset that was seen, and when."""


@pytest.mark.parametrize("members", [1, 2])
def test_live_rate(kafka: str, postgres: str, topic_name: str, database: str, members: int) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(FACTS, EVENTS))
    names = [f"bench-{number}" for number in range(members)]
    projectors = [ProjectorProcess(kafka, topic_name, database, projector_name=name) for name in names]
    broker = listening_on(int(kafka.rsplit(":", 1)[1]))
    server = listening_on(int(conninfo_to_dict(postgres).get("port") or urlsplit(postgres).port or 5432))
    try:
        for one in projectors:
            one.await_event("claimed")
        started, before = progress(database), time.monotonic()
        spent = {"client": [], "broker": tree(broker) if broker else [], "database": []}
        spent["client"] = [process for one in projectors for process in tree(one.process.pid)]
        spent["database"] = tree(server) if server else []
        cpu = {name: cpu_s(processes) for name, processes in spent.items()}
        with ExitStack() as watching:
            memory = [watching.enter_context(PeakMemory(one.process.pid)) for one in projectors]
            await_offsets(database, EVENTS, timeout_s=600)
        seconds, done = time.monotonic() - before, EVENTS - started
        cpu = {name: cpu_s(processes) - cpu[name] for name, processes in spent.items()}
        assert [one.stop() for one in projectors] == [0] * members
    finally:
        for one in projectors:
            one.kill()
    assert_counted_once(database)
    costs = ", ".join(f"{name} {value / done * 1e6:.0f}" for name, value in cpu.items())
    record(
        Figure(
            f"live projector with timeline, {members} process{'es' if members > 1 else ''}",
            done / seconds,
            "events/s",
            "at least" if members > 1 else "told",
            12_000 if members > 1 else None,  # of the machine, as `up` runs it
            f"CPU µs an event: {costs}",
            "ceiling of the page 32,000-39,000 with a fold of 0; Connect + Debezium, current state only, 22,700 a task",
        )
    )
    record(
        Figure(
            f"memory of the projector, {members}", max(one.mb for one in memory), "MB", "at most", MEMORY_MB, "cache"
        )
    )


def progress(database: str) -> int:
    with psycopg.connect(database) as connection:
        found = connection.execute("select coalesce(sum(next_offset), 0)::bigint from chronofact.checkpoint").fetchone()
    assert found is not None
    return int(found[0])


def test_produce_to_visible(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    said = list(mixed(3_000, LATENCY_RATE * LATENCY_S, seed=3))
    produced: dict[tuple[int, int], float] = {}
    with ProjectorProcess(kafka, topic_name, database) as projector:
        projector.await_event("claimed")
        producing = threading.Thread(target=produce_evenly, args=(kafka, topic_name, said, produced))
        producing.start()
        visible = watch_checkpoints(database, len(said))
        producing.join()
    delays = [1_000 * (visible_at(visible[place[0]], place[1]) - at) for place, at in produced.items()]
    steady = delays[LATENCY_RATE:]  # the first second warms up
    common = ("waiting for a batch's transaction; produce-to-ack is inside", "")
    record(Figure("produce-to-visible at 1,000/s, p99", percentile(steady, 0.99), "ms", "at most", 250, *common))
    record(Figure("produce-to-visible at 1,000/s, p50", percentile(steady, 0.50), "ms", "told", None, *common))


def produce_evenly(
    kafka: str,
    topic: str,
    said: Iterable[Said],
    produced: dict[tuple[int, int], float],
    rate: int = LATENCY_RATE,
    stop: threading.Event | None = None,
) -> None:
    """At the rate, in steps of 10 ms, until all is said or it is stopped; remembers when each message was handed over."""
    producer = Producer({"bootstrap.servers": kafka, "linger.ms": 5, "enable.idempotence": True})
    began, step, rest = time.monotonic(), rate // 100, iter(said)
    for number in count(0, step):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        now = [*islice(rest, step)]
        if not now or (stop is not None and stop.is_set()):
            break
        for one in now:
            at = time.monotonic()

            def delivered(_error: object, message: Message, at: float = at) -> None:
                partition, offset = message.partition(), message.offset()
                assert partition is not None
                assert offset is not None
                produced[partition, offset] = at

            producer.produce(topic, one.value, one.key, one.partition, on_delivery=delivered)
        producer.poll(0)
    producer.flush(30)


def watch_checkpoints(
    database: str,
    total: int | None,
    *,
    projection: str = "p1",
    stop: threading.Event | None = None,
    seen: Steps | None = None,
) -> Steps:
    """By partition each next offset that was seen, and when: until they add up to the total, or it is stopped."""
    seen = {} if seen is None else seen
    seen |= {partition: [] for partition in range(12)}
    statement = "select partition, next_offset from chronofact.checkpoint where projection = %s"
    deadline = time.monotonic() + 120
    with psycopg.connect(database, autocommit=True) as connection:
        while total is None or sum(steps[-1][0] for steps in seen.values() if steps) < total:
            if stop is not None and stop.is_set():
                break
            found = connection.execute(statement, (projection,)).fetchall()
            now = time.monotonic()
            assert stop is not None or now < deadline
            for partition, next_offset in found:
                if not seen[partition] or seen[partition][-1][0] < next_offset:
                    seen[partition].append((next_offset, now))
            time.sleep(0.002 if stop is None else 0.01)
    return seen


def visible_at(steps: list[tuple[int, float]], offset: int) -> float:
    return steps[bisect_right(steps, offset, key=itemgetter(0))][1]
