"""A database restored from an older copy under a running projector, epochs and all: it goes back and catches up."""

from __future__ import annotations

import pytest

from tests.bench.workload import mixed
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle


@pytest.mark.parametrize("applied_since", [1, 200])
def test_a_checkpoint_that_went_back_without_a_broken_connection_is_noticed(applied_since: int) -> None:
    events = list(mixed(40, 600))
    topic, store = MemoryTopic(), MemoryStore()
    projector, told = projector_on(topic.join(), store)
    topic.append(events[:200])
    run_until_idle(projector)
    older = {name: dict(lines) for name, lines in store.database.tables.items()}
    topic.append(events[200 : 200 + applied_since])
    run_until_idle(projector)
    store.database.tables = older
    topic.append(events[200 + applied_since :])
    run_until_idle(projector)
    clean_topic, clean = MemoryTopic(), MemoryStore()
    clean_topic.append(events)
    run_until_idle(projector_on(clean_topic.join(), clean)[0])
    assert store.state() == clean.state()
    assert store.tables.checkpoints.keys() == clean.tables.checkpoints.keys()
    assert {place: at for place, (at, _) in store.tables.checkpoints.items()} == {
        place: at for place, (at, _) in clean.tables.checkpoints.items()
    }
    assert told.hindrances
    assert set(told.hindrances) == {"fenced"}
