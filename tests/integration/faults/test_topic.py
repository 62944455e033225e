"""What may be done to the topic while everything runs: each is refused by name, by all, and nothing is written."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourceType,
)

from chronofact.contracts.codec import decode_event
from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.faults.services import Site, site
from tests.integration.faults.truth import assert_answered, assert_recomputed, messages_of
from tests.integration.projecting import ProjectorProcess, ServiceProcess, append, await_offsets, delete_topic, state_of

ANSWER_S = 30


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


@pytest.fixture
def here(kafka: str, topic: str, database: str) -> Iterator[Site]:
    with site(kafka, topic, database, topic_check_s=1) as made:
        yield made


def configure(kafka: str, topic: str, **settings: str) -> None:
    """Puts settings on the topic."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    for name, value in settings.items():
        resource.add_incremental_config(
            ConfigEntry(name.replace("_", "."), value, incremental_operation=AlterConfigOpType.SET)
        )
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 2})
    admin.incremental_alter_configs([resource])[resource].result(ANSWER_S)


def remedies(process: ServiceProcess) -> list[tuple[str, str | None]]:
    """What /readyz names and says to do."""
    reasons = httpx.get(f"http://127.0.0.1:{process.port}/readyz").json()["reasons"]
    return [(reason["code"], reason["remedy"]) for reason in reasons]


def test_retention_and_compaction_are_refused_while_they_last(here: Site) -> None:
    with here.projector() as projector:
        for wrong, right, code in (
            ({"retention_ms": "3600000"}, {"retention_ms": "-1"}, "retention_limited"),
            ({"cleanup_policy": "compact"}, {"cleanup_policy": "delete"}, "cleanup_policy_differs"),
        ):
            here.load.await_more(100)
            configure(here.kafka, here.topic, **wrong)
            here.load.await_answer(code)
            projector.await_readyz(code)
            here.writer.await_readyz(code)
            applied = state_of(here.database)
            configure(here.kafka, here.topic, **right)
            projector.await_readyz()
            here.load.await_more(100)
            assert len(state_of(here.database)) >= len(applied)
        here.assert_agreed()


def test_added_partitions_are_refused_and_nothing_more_is_written(here: Site) -> None:
    with here.projector() as projector:
        here.load.await_more(200)
        admin = AdminClient({"bootstrap.servers": here.kafka, "log_level": 2})
        admin.create_partitions([NewPartitions(here.topic, 13)])[here.topic].result(ANSWER_S)
        here.load.await_answer("partition_count_differs")
        projector.await_readyz("partition_count_differs")
        code, remedy = remedies(here.writer)[0]
        assert (code, "topics copy" in (remedy or "")) == ("partition_count_differs", True)
        here.load.abandon()
        log = messages_of(here.kafka, here.topic)
        assert all(message.partition < 12 for message in log)
        assert {decode_event(message.value).event_id for message in log} == here.load.acknowledged
        applied = state_of(here.database)
        time.sleep(1)
        assert state_of(here.database) == applied


def test_a_topic_that_is_made_anew_is_refused_and_nothing_of_it_is_applied(here: Site) -> None:
    """Filled at once beyond the offsets that were applied, so that they would seem to go on."""
    with here.projector() as projector:
        here.load.await_more(300)
        await_offsets(here.database, 300)
        here.load.abandon()
        log = messages_of(here.kafka, here.topic)
        await_offsets(here.database, len(log))
        before = state_of(here.database)
        recreate(here)
        append(here.kafka, here.topic, mixed(100, 2_000, prefix="other"))
        projector.await_readyz("topic_recreated")
        here.writer.await_readyz("topic_recreated")
        for process in (projector, here.writer):
            code, remedy = remedies(process)[0]
            assert code == "topic_recreated"
            assert "restore" in (remedy or "")
        assert state_of(here.database) == before
        assert projector.stop() == 0
        with ProjectorProcess(here.kafka, here.topic, here.database) as again:
            again.await_readyz("topic_recreated")
        assert state_of(here.database) == before
        assert_recomputed(here.database, log)
        assert_answered(here.database, log)


def test_nothing_is_acknowledged_into_a_topic_that_was_emptied(kafka: str, topic: str, database: str) -> None:
    """Between two looks at the topic: offsets that begin anew tell."""
    with site(kafka, topic, database, topic_check_s=600) as here:
        here.load.await_more(400)
        recreate(here)
        here.load.await_answer("topic_recreated")
        here.load.abandon()
        found = {decode_event(message.value).event_id for message in messages_of(kafka, topic)}
        assert found
        assert found.isdisjoint(here.load.acknowledged)


def recreate(here: Site) -> None:
    """Delete the topic and make it again."""
    delete_topic(here.kafka, here.topic)
    create_topics(here.kafka, here.topic)
