"""The limits of parking, held by the whole projector on the twins."""

from __future__ import annotations

import pytest

from chronofact.contracts.drops import Drop
from chronofact.projecting.parking import PARKED_ROW_MAX, ParkingLimit
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import Fact

POISON = b"\xc3\x01 no event"
ADA = Fact("ada")
HERE = ADA.partition


def poisoned(topic: MemoryTopic, number: int) -> int:
    """On a fact of its own."""
    topic.append_raw(HERE, number.to_bytes(16), POISON)
    return len(topic.partitions[HERE]) - 1


def good(topic: MemoryTopic, count: int) -> None:
    """Repeats, which are the cheapest of what is applied."""
    said = ADA.asserts("npm")
    topic.append([said] * count)


def dropped(topic: MemoryTopic, offset: int, number: int) -> None:
    drop = Drop(TOPIC_ID, HERE, offset, number.to_bytes(16), "no use", "ada").message()
    topic.append_raw(HERE, drop.key, drop.value)


@pytest.mark.parametrize("batch_events_max", [50, 2_000])
def test_one_percent_of_the_last_ten_thousand_stops_it_where_it_is_passed(batch_events_max: int) -> None:
    topic, store = MemoryTopic(), MemoryStore()
    for number in range(101):
        poisoned(topic, number)
        good(topic, 80)
    first = projector_on(topic.join(), store, batch_events_max=batch_events_max)[0]
    with pytest.raises(ParkingLimit) as stopped:
        run_until_idle(first)
    first.close()
    assert (stopped.value.partition, stopped.value.offset) == (HERE, 100 * 81)
    # whoever starts it again sees it stop at the same message, with nothing of the batch written
    before = store.tables.checkpoints[TOPIC_ID, HERE]
    with pytest.raises(ParkingLimit):
        run_until_idle(projector_on(topic.join(), store, batch_events_max=batch_events_max)[0])
    assert store.tables.checkpoints[TOPIC_ID, HERE][0] == before[0] <= 100 * 81
    assert len(store.tables.parked) <= 100


def test_one_percent_exactly_does_not_and_what_lies_back_is_forgiven() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    for number in range(150):
        poisoned(topic, number)
        good(topic, 99)
    run_until_idle(projector_on(topic.join(), store)[0])
    assert len(store.tables.parked) == 150


def test_what_is_dropped_in_between_does_not_count() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    for number in range(300):
        dropped(topic, poisoned(topic, number), number)
        good(topic, 10)
    projector, witness = projector_on(topic.join(), store)
    run_until_idle(projector)
    assert (len(store.tables.parked), witness.total.dropped) == (0, 300)


def test_drops_that_do_not_count_are_no_poison() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    good(topic, 1)
    for number in range(3 * PARKED_ROW_MAX):
        drop = Drop(TOPIC_ID, HERE, 0, ADA.fact_id, f"no use {number}", "ada").message()
        topic.append_raw(HERE, drop.key, drop.value)
    run_until_idle(projector_on(topic.join(), store)[0])
    assert {line.code for line in store.tables.parked.values()} == {"drop_not_parked"}
    run_until_idle(projector_on(topic.join(), store)[0])


def test_releases_in_vain_do_not_count() -> None:
    topic, store = MemoryTopic(), MemoryStore()
    offsets = [poisoned(topic, number) for number in range(PARKED_ROW_MAX - 1)]
    projector, witness = projector_on(topic.join(), store)
    run_until_idle(projector)
    for _ in range(3):
        for offset in offsets:
            fact_id = store.tables.parked[TOPIC_ID, HERE, offset].fact_id
            store.ask(TOPIC_ID, HERE, fact_id=fact_id, offset=offset)
        run_until_idle(projector, idle_steps=120)
    assert sum(witness.total.retried.values()) == 3 * len(offsets)
    good(topic, 1)
    run_until_idle(projector)
