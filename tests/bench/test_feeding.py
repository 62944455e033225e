"""What a projection that catches up costs the one that tenants read, fed by the same process."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from tests.bench.figures import Figure, record
from tests.bench.meter import percentile
from tests.bench.test_projector_rate import LATENCY_RATE, LATENCY_S, produce_evenly, visible_at, watch_checkpoints
from tests.bench.workload import mixed
from tests.integration.projecting import ProjectorProcess, append

BACKLOG, BACKLOG_FACTS = 250_000, 50_000
P99_MS = 250


def level(kafka: str, topic: str, database: str) -> None:
    """p1 stands at the end of the topic, as if it had applied all of it."""
    state = Admin(kafka).settled(facts_topic(topic))
    store = ProjectionStore(database, "p1")
    for partition, end in state.high_watermarks.items():
        store.claim(state.topic_id, partition, watermarks=(0, end))
    store.close()
    with psycopg.connect(database, autocommit=True) as connection:
        for partition, end in state.high_watermarks.items():
            connection.execute(
                "update chronofact.checkpoint set next_offset = %s where partition = %s", (end, partition)
            )


def reached(database: str, projection: str) -> int:
    statement = "select coalesce(sum(next_offset), 0)::bigint from chronofact.checkpoint where projection = %s"
    with psycopg.connect(database) as connection:
        found = connection.execute(statement, (projection,)).fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize("catching_up", [False, True])
def test_produce_to_visible_beside_another(kafka: str, topic_name: str, database: str, *, catching_up: bool) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(BACKLOG_FACTS, BACKLOG))
    level(kafka, topic_name, database)
    with connect(database, "bench", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1, state="catching_up" if catching_up else "building")
    said = list(mixed(3_000, LATENCY_RATE * LATENCY_S, seed=3, prefix="live"))
    produced: dict[tuple[int, int], float] = {}
    with ProjectorProcess(kafka, topic_name, database) as projector:
        projector.await_event("claimed", 2 if catching_up else 1)
        producing = threading.Thread(target=produce_evenly, args=(kafka, topic_name, said, produced))
        producing.start()
        began, before = time.monotonic(), reached(database, "p2")
        visible = watch_checkpoints(database, BACKLOG + len(said), projection="p1")
        seconds, after = time.monotonic() - began, reached(database, "p2")
        producing.join()
    delays = [1_000 * (visible_at(visible[place[0]], place[1]) - at) for place, at in produced.items()]
    steady = delays[3 * LATENCY_RATE :]  # the first seconds warm up
    beside = "beside one that catches up" if catching_up else "alone"
    told = f"p50 {percentile(steady, 0.5):.0f} ms, max {max(steady):.0f} ms"
    record(Figure(f"produce-to-visible {beside}, p99", percentile(steady, 0.99), "ms", "at most", P99_MS, told))
    if catching_up:
        assert after < BACKLOG, "it has to be busy all the time"
        record(Figure("catching up beside a live one", (after - before) / seconds, "events/s", "told", None, ""))
