"""A database restored from an older copy under a running projector, epochs and all: it goes back and catches up."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chronofact.runtime.failures import Transient
from tests.bench.workload import mixed
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import Fact


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


def test_a_copy_that_lacks_only_a_release_is_released_again_in_full() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    fact = Fact("ada")
    is_broken = True
    store.refuses = lambda lines: is_broken and any(event.kafka_offset == 1 for event in lines.events)
    projector, told = projector_on(topic.join(), store)
    topic.append([fact.asserts("npm"), fact.asserts("pnpm")])
    run_until_idle(projector)
    older = {name: dict(lines) for name, lines in store.database.tables.items()}
    is_broken = False
    for _ in range(2):
        store.ask(TOPIC_ID, fact.partition, fact_id=fact.fact_id)
        run_until_idle(projector, idle_steps=120)
        assert [line.kafka_offset for line in store.events()] == [0, 1]
        store.database.tables, older = older, store.database.tables
        store.fault = _once_away()
        run_until_idle(projector, idle_steps=120)
        assert told.hindrances[-1] == "postgres_away"


def _once_away() -> Callable[[str], None]:
    failures = iter([Transient("postgres_away", "made up")])

    def fail(_step: str) -> None:
        for failure in failures:
            raise failure

    return fail
