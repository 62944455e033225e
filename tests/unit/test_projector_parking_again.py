"""What is parked, dropped and applied is the same after a rebuild, however the first projection came to it."""

from __future__ import annotations

from random import Random

import pytest

from chronofact.contracts.drops import Drop
from chronofact.projector.loop import Projector
from chronofact.runtime.failures import Transient
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import Fact

POISON = b"\xc3\x01 no event"
FACTS = [fact for fact in map(Fact, map(str, range(200))) if fact.partition in {2, 5}][:9]


class Told:
    """Everything that a rebuild must find again, by fact and place, without numbers of the projection's own."""

    def __init__(self, store: MemoryStore) -> None:
        tables = store.tables
        self.parked = {spot: line[:6] + line[7:] for spot, line in tables.parked.items()}
        self.dropped = dict(tables.dropped)
        self.state = store.state()
        self.events = sorted(
            (line.kafka_partition, line.kafka_offset, line.event_seq, line.event_id, line.recorded_at)
            for line in store.events()
        )
        self.painted = len(tables.lines["timeline"])


def live(topic: MemoryTopic, store: MemoryStore, random: Random) -> None:
    """A projector that runs while messages come, poison among them, an operator drops and asks, and it is cut off."""
    failing = [False]

    def fail(step: str) -> None:
        if failing[0] and random.random() < 0.01:
            raise Transient("postgres_away", f"made up at {step}")

    store.fault = fail
    projector = member(topic, store, random)
    failing[0] = True
    for number in range(400):
        append_one(topic, store, random, number)
        for _ in range(random.choice((0, 0, 1, 3))):
            projector.step()
        if random.random() < 0.02:
            projector.close()
            projector = member(topic, store, random)
    failing[0] = False
    run_until_idle(projector, idle_steps=600)
    projector.close()


def member(topic: MemoryTopic, store: MemoryStore, random: Random) -> Projector:
    return projector_on(topic.join(), store, batch_events_max=random.choice((1, 7, 60)), cache_bytes_max=60_000)[0]


def append_one(topic: MemoryTopic, store: MemoryStore, random: Random, number: int) -> None:
    fact = random.choice(FACTS)
    when = 1_000_000 + number * 1_000
    dice = random.random()
    parked = sorted(store.tables.parked)
    if dice < 0.05:
        key = random.choice((fact.fact_id, fact.fact_id, b"short", b""))
        topic.append_raw(fact.partition, key, POISON, appended_at=when)
    elif dice < 0.12 and parked:
        _, partition, offset = random.choice(parked)
        drop_any(topic, partition, offset, number, when)
    elif dice < 0.14:
        count = len(topic.partitions[fact.partition])
        drop_any(topic, fact.partition, random.randrange(count + 2), number, when)
    elif dice < 0.18 and parked:
        topic_id, partition, offset = random.choice(parked)
        store.ask(topic_id, partition, fact_id=store.tables.parked[topic_id, partition, offset].fact_id, offset=offset)
    else:
        topic.append([fact.asserts(number % 50)], appended_at=when)


def drop_any(topic: MemoryTopic, partition: int, offset: int, number: int, when: int) -> None:
    messages = topic.partitions[partition]
    key = messages[offset].key if offset < len(messages) else b""
    drop = Drop(TOPIC_ID, partition, offset, key, f"no use {number}", "ada").message()
    topic.append_raw(partition, drop.key, drop.value, appended_at=when)


def rebuilt(topic: MemoryTopic, *, batch_events_max: int, known: MemoryStore | None = None) -> MemoryStore:
    store = MemoryStore()
    if known is not None:
        store.dropped_elsewhere |= {spot: line.message_key for spot, line in known.tables.dropped.items()}
    topic.members.clear()
    run_until_idle(projector_on(topic.join(), store, batch_events_max=batch_events_max)[0])
    return store


@pytest.mark.parametrize("seed", range(12))
def test_a_second_projection_parks_drops_and_applies_the_same(seed: int) -> None:
    random = Random(seed)
    topic, store = MemoryTopic(), MemoryStore()
    live(topic, store, random)
    first = Told(store)
    assert first.dropped, f"seed {seed} drops nothing"
    for second in (
        rebuilt(topic, batch_events_max=1),
        rebuilt(topic, batch_events_max=2_000),
        rebuilt(topic, batch_events_max=2_000, known=store),
    ):
        told = Told(second)
        assert told.parked == first.parked, f"seed {seed}"
        assert told.dropped == first.dropped, f"seed {seed}"
        assert told.events == first.events, f"seed {seed}"
        assert told.state == first.state, f"seed {seed}"
        assert told.painted == first.painted, f"seed {seed}"
