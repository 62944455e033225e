"""A partition whose leader is gone: nothing is claimed on a guess of where it ends, and what is owned goes on."""

from __future__ import annotations

import pytest

from chronofact.projector.ports import TopicLook
from tests.bench.workload import mixed
from tests.contract.memory_log import MemoryLog, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle


def without(log: MemoryLog, partition: int) -> TopicLook:
    """What a look finds while one partition has no leader."""
    topic_id, watermarks, partitions = type(log).look(log)
    return TopicLook(topic_id, {one: ends for one, ends in watermarks.items() if one != partition}, partitions)


def test_a_claim_waits_for_every_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    topic, store = MemoryTopic(), MemoryStore()
    topic.append(mixed(40, 100))
    log = topic.join()
    monkeypatch.setattr(log, "look", lambda: without(log, 3))
    projector, told = projector_on(log, store)
    for _ in range(20):
        projector.step()
    assert set(told.hindrances) == {"kafka_unreachable"}
    assert not store.events()
    monkeypatch.undo()
    run_until_idle(projector)
    assert len(store.events()) == 100


def test_what_is_owned_goes_on_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    topic, store = MemoryTopic(), MemoryStore()
    log = topic.join()
    projector, told = projector_on(log, store, look_every_s=0.01)
    run_until_idle(projector)
    monkeypatch.setattr(log, "look", lambda: without(log, 3))
    topic.append(mixed(40, 100))
    run_until_idle(projector)
    assert not told.hindrances
    assert len(store.events()) == 100
