"""kill -9 at random moments while messages are parked, dropped and released: the order holds, nothing is lost or counted twice."""

from __future__ import annotations

import os
import time
from random import Random
from uuid import UUID

import psycopg

from chronofact.contracts.drops import Drop
from chronofact.kafka.admin import create_topics
from chronofact.postgres.parking_store import ParkingStore, Which
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.projecting import ProjectorProcess, append, assert_counted_once, await_offsets, state_of
from tests.integration.saying import Fact, Said

POISON = b"\xc3\x01 no event"
FACTS = [Fact(f"held {number}") for number in range(24)]


def messages_of(random: Random) -> list[Said]:
    """Each fact is poisoned once or twice among its events."""
    said = []
    for fact in FACTS:
        own = [fact.asserts(number) for number in range(12)]
        for _ in range(random.choice((1, 2))):
            own.insert(random.randrange(len(own)), Said(fact.partition, fact.fact_id, POISON, b"", None))
        said.append(own)
    mixed = []
    while any(said):
        mixed.append(random.choice([own for own in said if own]).pop(0))
    return mixed


def drops_of(database: str) -> list[Said]:
    """Of all that is parked for its own sake."""
    with psycopg.connect(database) as connection:
        lines = connection.execute(
            "select topic_id, partition, kafka_offset, message_key from chronofact.parked_event where code <> 'held'"
        ).fetchall()
    drops = [
        Drop(topic_id.bytes, partition, offset, key, "no use", "ada") for topic_id, partition, offset, key in lines
    ]
    return [Said(one.partition, one.key, one.message().value, b"", None) for one in drops]


def test_kills_during_drops_and_releases(kafka: str, topic_name: str, database: str) -> None:
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")
    random = Random(seed)
    create_topics(kafka, topic_name)
    sent = messages_of(random)
    append(kafka, topic_name, sent)
    with ProjectorProcess(kafka, topic_name, database):
        await_offsets(database, len(sent))
    # a second round, since behind the first poison of a fact there may be another
    for _ in range(2):
        drops = drops_of(database)
        append(kafka, topic_name, drops)
        sent += drops
        for _ in range(3):
            with ProjectorProcess(kafka, topic_name, database) as projector:
                with ParkingStore(database, "p1") as parking:
                    parking.ask(Which())
                projector.await_event("claimed")
                time.sleep(random.uniform(0, 0.15))
                projector.kill()
        with ProjectorProcess(kafka, topic_name, database):
            await_offsets(database, len(sent))
    with ParkingStore(database, "p1") as parking:
        assert parking.counts() == (0, 0)
    assert state_of(database) == expected(sent, database)
    assert_counted_once(database)
    with psycopg.connect(database) as connection:
        found = connection.execute("select count(*), count(distinct fact_id) from chronofact.released_event").fetchone()
    assert found is not None
    assert found[1] == len(FACTS)


def expected(sent: list[Said], database: str) -> dict[bytes, tuple[int, bytes]]:
    """What the twins make of the same log."""
    with psycopg.connect(database) as connection:
        found = connection.execute("select distinct topic_id from chronofact.checkpoint").fetchone()
    assert found is not None
    assert isinstance(found[0], UUID)
    topic, store = MemoryTopic(found[0].bytes), MemoryStore()
    topic.append(sent)
    run_until_idle(projector_on(topic.join(), store)[0])
    assert not store.tables.parked
    return store.state()
