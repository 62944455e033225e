"""kill -9 at random moments of an import: nothing is lost, nothing counted twice."""

from __future__ import annotations

import os
import time
from random import Random

import pytest

from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.projecting import ProjectorProcess, append, assert_counted_once, await_offsets, state_of


def import_under_fire(kafka: str, topic: str, database: str, *, kills: int, seed: int) -> None:
    """Feeds the log while the projector is killed again and again, mostly within a batch."""
    random = Random(seed)
    print(f"seed {seed}")
    messages = list(mixed(60 * kills, 250 * kills, seed=seed))
    share = len(messages) // (kills + 1)
    create_topics(kafka, topic)
    for number in range(kills):
        append(kafka, topic, messages[number * share : (number + 1) * share])
        with ProjectorProcess(kafka, topic, database, batch_events_max=40) as projector:
            if random.random() < 0.8:
                projector.await_event("claimed")
            time.sleep(random.uniform(0, 0.25))
            projector.kill()
    append(kafka, topic, messages[kills * share :])
    with ProjectorProcess(kafka, topic, database) as projector:
        await_offsets(database, len(messages), timeout_s=120)
        assert projector.stop() == 0
    twin_topic, twin = MemoryTopic(), MemoryStore()
    twin_topic.append(messages)
    run_until_idle(projector_on(twin_topic.join(), twin)[0])
    assert state_of(database) == twin.state()
    assert_counted_once(database)


def test_five_kills_during_an_import(kafka: str, topic_name: str, database: str) -> None:
    import_under_fire(kafka, topic_name, database, kills=5, seed=int.from_bytes(os.urandom(4)))


@pytest.mark.soak
@pytest.mark.timeout(1_800)
def test_fifty_kills_during_an_import(kafka: str, topic_name: str, database: str) -> None:
    import_under_fire(kafka, topic_name, database, kills=50, seed=int.from_bytes(os.urandom(4)))
