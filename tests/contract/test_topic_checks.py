"""Every way in which a topic can be wrong is named, with its remedy; a topic that is right passes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from chronofact.contracts.topics import catalogue, facts_topic
from chronofact.kafka.admin import Admin, check, create_topics, faults
from chronofact.runtime.failures import Transient, Unfit
from tests.integration.projecting import delete_topic


@pytest.fixture
def admin(kafka: str) -> Admin:
    return Admin(kafka)


def test_topics_of_the_catalogue_are_created_once_and_pass(kafka: str, topic_name: str, admin: Admin) -> None:
    assert topic_name in create_topics(kafka, topic_name)
    assert create_topics(kafka, topic_name) == []
    state = admin.state(facts_topic(topic_name))
    assert len(state.topic_id) == 16
    assert any(state.topic_id)
    assert state.partitions == catalogue()["facts"].partitions
    assert set(state.low_watermarks.values()) == set(state.high_watermarks.values()) == {0}


def test_a_missing_topic_is_named(topic_name: str, admin: Admin) -> None:
    with pytest.raises(Unfit) as unfit:
        admin.state(facts_topic(topic_name))
    assert unfit.value.code == "topic_missing"
    assert "chronofact topics" in unfit.value.remedy


def test_a_broker_that_is_away_is_named() -> None:
    with pytest.raises(Transient) as away:
        Admin("127.0.0.1:9", timeout_s=0.5).state(facts_topic())
    assert away.value.code == "kafka_unreachable"


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ({"cleanup.policy": "compact"}, "cleanup_policy_differs"),
        ({"cleanup.policy": "compact,delete"}, "cleanup_policy_differs"),
        ({"retention.ms": "3600000"}, "retention_limited"),
        ({"retention.bytes": "1000000"}, "retention_limited"),
        ({"message.timestamp.type": "CreateTime"}, "timestamp_type_differs"),
        ({"max.message.bytes": "1000"}, "message_size_limited"),
    ],
)
def test_a_topic_that_would_lose_events_is_refused(
    admin: Admin, topic_name: str, setting: dict[str, str], code: str
) -> None:
    wanted = facts_topic(topic_name)
    admin.create([replace(wanted, config={**wanted.config, **setting})])
    with pytest.raises(Unfit) as unfit:
        check(wanted, admin.state(wanted))
    assert unfit.value.code == code
    assert next(iter(setting)) in unfit.value.remedy


def test_another_partition_count_is_refused(admin: Admin, topic_name: str) -> None:
    wanted = facts_topic(topic_name)
    admin.create([replace(wanted, partitions=3)])
    assert [fault.code for fault in faults(wanted, admin.state(wanted))] == ["partition_count_differs"]


def test_a_topic_created_anew_is_refused(kafka: str, admin: Admin, topic_name: str) -> None:
    wanted = facts_topic(topic_name)
    admin.create([wanted])
    before = admin.state(wanted).topic_id
    delete_topic(kafka, topic_name)
    admin.create([wanted])
    state = admin.state(wanted)
    check(wanted, state)
    with pytest.raises(Unfit) as unfit:
        check(wanted, state, topic_id=before)
    assert unfit.value.code == "topic_recreated"


async def test_a_log_that_lost_its_beginning_is_refused(kafka: str, admin: Admin, topic_name: str) -> None:
    from chronofact.contracts.log import Message
    from chronofact.kafka.producer import LogProducer

    wanted = facts_topic(topic_name)
    admin.create([wanted])
    producer = LogProducer(kafka, topic_name)
    await producer.append([Message(bytes(16), b"event", 5)] * 10)
    producer.close()
    client = AdminClient({"bootstrap.servers": kafka})
    for future in client.delete_records([TopicPartition(topic_name, 5, 4)]).values():
        future.result(10)
    assert [fault.code for fault in faults(wanted, admin.state(wanted))] == ["log_truncated"]


@pytest.mark.parametrize("name", ["no name", "x" * 300])
def test_what_the_broker_refuses_is_named(admin: Admin, name: str) -> None:
    topic = facts_topic(name)
    for ask in (lambda: admin.create([topic]), lambda: admin.state(topic)):
        with pytest.raises(Unfit) as unfit:
            ask()
        assert unfit.value.code == "kafka_refuses"


def test_a_setting_that_the_broker_does_not_take_is_named(admin: Admin, topic_name: str) -> None:
    admin.create([facts_topic(topic_name)])
    with pytest.raises(Unfit) as unfit:
        admin.configure(topic_name, {"max.message.bytes": "many"})
    assert unfit.value.code == "kafka_refuses"
