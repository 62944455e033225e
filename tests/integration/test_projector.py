"""The projector's process on real Kafka and Postgres: imports, repeats, hand-overs, outages and refusals."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import psycopg
import pytest

from chronofact.cli.demo.history import Labelled, lines_of
from chronofact.client import Ids
from chronofact.contracts.log import Message
from chronofact.embedded.stack import Stack
from chronofact.kafka.admin import create_topics
from chronofact.postgres.migrate import migrate
from tests.bench.workload import mixed
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.contract.writing import WriterInProcess
from tests.integration.fixtures_stack import database_like
from tests.integration.projecting import (
    ProjectorProcess,
    append,
    assert_counted_once,
    await_offsets,
    delete_topic,
    state_of,
)
from tests.integration.saying import Fact, Said

POISON = b"\xc3\x01 no event"


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


@pytest.fixture
def projector(kafka: str, topic: str, database: str) -> Iterator[ProjectorProcess]:
    with ProjectorProcess(kafka, topic, database) as process:
        yield process


@pytest.fixture(scope="module")
def legislators() -> list[Message]:
    """The demo's harder history as the writer appends it, all with one system time."""
    writer = WriterInProcess()
    commands = Labelled(lines_of("commands"), Ids()).commands
    for start in range(0, len(commands), 10_000):
        same_time = [{**one, "recorded_at": "2020-01-01T00:00:00Z"} for one in commands[start : start + 10_000]]
        assert writer.send(same_time).status_code == 200
    return writer.log.messages()


def expected(messages: list[Said]) -> dict[bytes, tuple[int, bytes]]:
    """What the twins make of the same messages."""
    topic, store = MemoryTopic(), MemoryStore()
    topic.append(messages)
    run_until_idle(projector_on(topic.join(), store)[0])
    return store.state()


def test_an_import_is_applied_once_however_often_it_is_sent(
    kafka: str, topic: str, database: str, projector: ProjectorProcess
) -> None:
    messages = list(mixed(150, 1_500))
    append(kafka, topic, messages)
    await_offsets(database, 1_500)
    assert state_of(database) == expected(messages)
    assert_counted_once(database)
    append(kafka, topic, messages)
    await_offsets(database, 3_000)
    assert state_of(database) == expected(messages)
    assert_counted_once(database)
    assert projector.readyz() == []
    assert projector.stop() == 0


def test_two_shuffled_deliveries_at_one_system_time_end_in_the_same_state(
    kafka: str, database_template: str, postgres: str, topic_name: str, legislators: list[Message]
) -> None:
    states, orders = [], []
    for number in range(2):
        order = Random(number).sample(legislators, len(legislators))
        topic = f"{topic_name}.{number}"
        create_topics(kafka, topic)
        with database_like(postgres, database_template) as database, ProjectorProcess(kafka, topic, database):
            total = append(kafka, topic, order)
            await_offsets(database, total, timeout_s=180)
            assert_counted_once(database)
            states.append(state_of(database))
            with psycopg.connect(database) as connection:
                query = "select event_id from p1.event order by fact_no, event_seq"
                orders.append(connection.execute(query).fetchall())
    assert states[0] == states[1]
    assert orders[0] != orders[1]


def test_two_projectors_share_the_partitions_and_hand_them_over(kafka: str, topic: str, database: str) -> None:
    messages = list(mixed(100, 1_200))
    with ProjectorProcess(kafka, topic, database, projector_name="a") as first:
        assert first.await_event("claimed")["partitions"] == list(range(12))
        append(kafka, topic, messages[:400])
        with ProjectorProcess(kafka, topic, database, projector_name="b") as second:
            shares = [second.await_event("claimed")["partitions"], first.await_event("claimed", 2)["partitions"]]
            assert sorted(map(len, shares)) == [6, 6]
            append(kafka, topic, messages[400:800])
            await_offsets(database, 800)
            second.kill()
            append(kafka, topic, messages[800:])
            await_offsets(database, 1_200)
            assert first.events("claimed")[-1]["partitions"] == list(range(12))
    assert state_of(database) == expected(messages)
    assert_counted_once(database)


def test_a_poisoned_fact_is_held_and_the_partition_moves_on(
    kafka: str, topic: str, database: str, projector: ProjectorProcess
) -> None:
    held = Fact("ada")
    poison = Said(held.partition, held.fact_id, POISON, b"", None)
    others = list(mixed(20, 100))
    total = append(kafka, topic, [held.asserts("npm"), poison, held.asserts("pnpm"), *others])
    await_offsets(database, total)
    assert state_of(database)[held.fact_id][0] == 1
    with psycopg.connect(database) as connection:
        parked = connection.execute(
            "select code, message_key, message from chronofact.parked_event order by kafka_offset"
        ).fetchall()
    assert parked == [
        ("event_undecodable", held.fact_id, POISON),
        ("held", held.fact_id, held.asserts("pnpm").value),
    ]
    assert projector.readyz() == []


def test_poison_without_end_stops_it(kafka: str, topic: str, database: str, projector: ProjectorProcess) -> None:
    append(kafka, topic, [Said(0, number.to_bytes(16), POISON, b"", None) for number in range(60)])
    assert projector.process.wait(30) == 1
    assert projector.await_event("failed")["code"] == "ParkingLimit"
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from chronofact.parked_event").fetchone() == (0,)


def test_a_recreated_topic_is_refused_by_name(kafka: str, topic: str, database: str) -> None:
    with ProjectorProcess(kafka, topic, database) as projector:
        append(kafka, topic, mixed(10, 50))
        await_offsets(database, 50)
        assert projector.stop() == 0
    before = state_of(database)
    delete_topic(kafka, topic)
    create_topics(kafka, topic)
    append(kafka, topic, mixed(10, 80, prefix="other"))
    with ProjectorProcess(kafka, topic, database) as projector:
        projector.await_readyz("topic_recreated")
        assert projector.stop() == 0
    assert state_of(database) == before


def test_a_database_that_is_not_migrated_is_named(kafka: str, topic: str, empty_database: str) -> None:
    with ProjectorProcess(kafka, topic, empty_database) as projector:
        projector.await_readyz("postgres_not_migrated")
        migrate(empty_database)
        append(kafka, topic, mixed(10, 50))
        await_offsets(empty_database, 50)
        projector.await_readyz()


def test_postgres_away_is_waited_for_and_nothing_is_missing(kafka: str, topic: str, stack_folder: Path) -> None:
    messages = list(mixed(60, 600))
    stack = Stack(stack_folder / "data", is_durable=False)
    addresses = stack.start(kafka=False)
    assert addresses.postgres is not None
    try:
        migrate(addresses.postgres)
        with ProjectorProcess(kafka, topic, addresses.postgres) as projector:
            append(kafka, topic, messages[:300])
            await_offsets(addresses.postgres, 300)
            stack.stop()
            append(kafka, topic, messages[300:])
            projector.await_readyz("postgres_away")
            stack = Stack(stack_folder / "data", is_durable=False)
            stack.start(kafka=False)
            await_offsets(addresses.postgres, 600)
            projector.await_readyz()
            assert Counter(one["event"] for one in projector.logged)["hindered"] <= 3
        assert state_of(addresses.postgres) == expected(messages)
        assert_counted_once(addresses.postgres)
    finally:
        stack.stop()


@pytest.mark.soak
def test_kafka_away_is_waited_for_and_nothing_is_missing(database: str, topic_name: str, stack_folder: Path) -> None:
    messages = list(mixed(60, 600))
    stack = Stack(stack_folder / "data", is_durable=False)
    addresses = stack.start(postgres=False)
    assert addresses.kafka is not None
    try:
        create_topics(addresses.kafka, topic_name)
        with ProjectorProcess(addresses.kafka, topic_name, database, topic_check_s=1) as projector:
            append(addresses.kafka, topic_name, messages[:300])
            await_offsets(database, 300)
            stack.stop()
            deadline = time.monotonic() + 30
            while not projector.readyz():
                assert time.monotonic() < deadline
                time.sleep(0.1)
            stack = Stack(stack_folder / "data", is_durable=False)
            assert stack.start(postgres=False).kafka == addresses.kafka
            append(addresses.kafka, topic_name, messages[300:])
            await_offsets(database, 600)
            projector.await_readyz()
            assert projector.stop() == 0
    finally:
        stack.stop()
    assert state_of(database) == expected(messages)
    assert_counted_once(database)


def test_sessions_that_the_database_ends_are_taken_up_again(
    kafka: str, topic: str, database: str, projector: ProjectorProcess
) -> None:
    messages = list(mixed(60, 900))
    projector.await_event("claimed")
    for start in range(0, 900, 100):
        append(kafka, topic, messages[start : start + 100])
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where application_name = 'chronofact projector-1' and datname = current_database()"
            )
    await_offsets(database, 900)
    assert state_of(database) == expected(messages)
    assert_counted_once(database)
