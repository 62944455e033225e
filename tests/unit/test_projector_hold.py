"""A held partition goes exactly to where it has to stop, and on once it is let go; others never wait for it."""

from __future__ import annotations

from random import Random

import pytest

from tests.bench.workload import mixed
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle


def applied(store: MemoryStore) -> dict[int, int]:
    return {partition: line[0] for (_, partition), line in store.tables.checkpoints.items()}


def test_a_held_partition_stops_where_it_has_to_while_others_go_on() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    topic.append(mixed(40, 600, seed=5))
    store.stop_at = {0: 7, 3: 0}
    projector, _ = projector_on(topic.join(), store, batch_events_max=50)
    run_until_idle(projector, idle_steps=20)
    stopped = applied(store)
    assert stopped[0] == 7
    assert stopped[3] == 0
    store.stop_at = {}
    run_until_idle(projector, idle_steps=20)
    whole = applied(store)
    assert {partition: whole[partition] for partition in range(12) if partition not in {0, 3}} == {
        partition: stopped[partition] for partition in range(12) if partition not in {0, 3}
    }
    assert whole[0] > 7
    assert whole[3] > 0


@pytest.mark.parametrize("seed", range(6))
def test_holds_that_come_and_go_change_nothing_of_the_outcome(seed: int) -> None:
    random = Random(seed)
    plain, store = MemoryStore(), MemoryStore()
    for one in (plain, store):
        topic = MemoryTopic()
        topic.append(mixed(40, 500, seed=seed))
        projector, _ = projector_on(topic.join(), one, batch_events_max=random.randrange(1, 80))
        for _ in range(60 if one is store else 0):
            if random.random() < 0.5:
                at = applied(store)
                store.stop_at = {
                    partition: at.get(partition, 0) + random.randrange(12)
                    for partition in random.sample(range(12), random.randrange(6))
                }
            stop_at = dict(store.stop_at)
            before = applied(store)
            projector.step()
            after = applied(store)
            assert all(after.get(one, 0) <= max(stop, before.get(one, 0)) for one, stop in stop_at.items())
        store.stop_at = {}
        run_until_idle(projector, idle_steps=20)
    assert store.state() == plain.state()
    assert applied(store) == applied(plain)
