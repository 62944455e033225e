"""A topic that is filled anew: every message keeps the append time that it had, before and after the seal."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, TopicPartition

from chronofact.contracts.topics import Topic, facts_topic
from chronofact.kafka.admin import Admin, check
from chronofact.kafka.consumer import LogConsumer, RawMessage
from chronofact.kafka.refill import Refill
from chronofact.runtime.failures import Transient, Unfit

OLD_MS = 1_600_000_000_123


def made(kafka: str, name: str, **further: str) -> Topic:
    topic = facts_topic(name)
    stamped = {"message.timestamp.type": "CreateTime", **further}
    Admin(kafka).create([replace(topic, config={**topic.config, **stamped})])
    return topic


def lying(kafka: str, name: str, partition: int, messages: int) -> list[RawMessage]:
    consumer = LogConsumer(kafka, name)
    consumer.assign({partition: 0})
    found: list[RawMessage] = []
    while len(found) < messages:
        found += consumer.poll(messages, 0.5)
    consumer.close()
    return found


def test_append_times_are_kept_and_the_brokers_count_from_the_seal_on(kafka: str, topic_name: str) -> None:
    topic = made(kafka, topic_name)
    refill = Refill(kafka, topic_name)
    for number in range(5_000):
        refill.append(3, b"key", b"%d" % number, OLD_MS - number)
    assert refill.flush() == {3: 5_000}
    admin = Admin(kafka)
    with pytest.raises(Unfit, match=r"message\.timestamp\.type=CreateTime"):
        check(topic, admin.settled(topic))
    admin.configure(topic_name, {"message.timestamp.type": "LogAppendTime"})
    check(topic, admin.settled(topic))
    refill.append(3, b"key", b"behind the seal", OLD_MS)
    refill.flush()
    refill.close()
    *kept, stamped = lying(kafka, topic_name, 3, 5_001)
    assert [(one.key, one.value, one.appended_at) for one in kept] == [
        (b"key", b"%d" % number, (OLD_MS - number) * 1_000) for number in range(5_000)
    ]
    assert stamped.appended_at > 2 * OLD_MS * 500  # today, in microseconds, lies behind 2020


def test_absent_keys_and_values_and_headers_are_kept(kafka: str, topic_name: str) -> None:
    made(kafka, topic_name)
    refill = Refill(kafka, topic_name)
    refill.append(0, None, None, OLD_MS, [("of", b"\x00\xff"), ("none", None)])
    refill.append(0, b"", b"", OLD_MS)
    refill.flush()
    refill.close()
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "chronofact-test"})
    consumer.assign([TopicPartition(topic_name, 0, 0)])
    absent, empty = consumer.consume(2, 10)
    consumer.close()
    assert (absent.key(), absent.value(), absent.headers()) == (None, None, [("of", b"\x00\xff"), ("none", None)])
    assert (empty.key(), empty.value(), empty.headers()) == (b"", b"", None)


def test_what_the_topic_does_not_take_is_named(kafka: str, topic_name: str) -> None:
    made(kafka, topic_name, **{"max.message.bytes": "1000"})
    refill = Refill(kafka, topic_name)
    refill.append(0, b"key", os.urandom(10_000), OLD_MS)
    with pytest.raises(Unfit) as unfit:
        refill.flush()
    assert unfit.value.code == "message_size_limited"
    with pytest.raises(Unfit):  # and it is of no more use
        refill.flush()
    refill.close()


def test_a_broker_that_is_away_is_named() -> None:
    refill = Refill("127.0.0.1:9", "nowhere", delivery_timeout_s=1)
    refill.append(0, b"key", b"value", OLD_MS)
    with pytest.raises(Transient) as away:
        refill.flush()
    assert away.value.code == "kafka_unreachable"
    refill.close()


@pytest.mark.parametrize("never", [0, -1])
def test_no_time_is_no_append_time(never: int) -> None:
    refill = Refill("127.0.0.1:9", "nowhere")
    with pytest.raises(ValueError, match="no append time"):
        refill.append(0, b"key", b"value", never)
    refill.close()
