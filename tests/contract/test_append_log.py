"""What a log promises the writer, of the twin and of Kafka alike."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from chronofact.contracts.log import Message, OutcomeUnknown, QueueFull
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import create_topics
from chronofact.kafka.consumer import LogConsumer, RawMessage
from chronofact.kafka.producer import LogProducer
from chronofact.writer.ports import Log
from tests.contract.append_log import MemoryAppendLog

ROOM = 2_000


class Subject:
    """A log under test, and everything that lies in it."""

    def __init__(self, log: Log, consumer: LogConsumer | None = None) -> None:
        self.log = log
        self._consumer = consumer

    def lies(self, next_offsets: dict[int, int]) -> list[tuple[bytes, bytes, int]]:
        """The messages before those offsets, by partition and offset."""
        if isinstance(self.log, MemoryAppendLog):
            return [one for partition in sorted(next_offsets) for one in self.log.partitions[partition]]
        assert self._consumer is not None
        self._consumer.assign(dict.fromkeys(next_offsets, 0))
        found: list[RawMessage] = []
        while len(found) < sum(next_offsets.values()):
            found += self._consumer.poll(1_000, 0.5)
        found.sort(key=lambda one: (one.partition, one.offset))
        return [(one.key, one.value, one.partition) for one in found]


@pytest.fixture(params=["twin", "kafka"])
async def subject(request: pytest.FixtureRequest, topic_name: str) -> AsyncIterator[Subject]:
    if request.param == "twin":
        yield Subject(MemoryAppendLog(room=ROOM))
        return
    kafka = request.getfixturevalue("kafka")
    create_topics(kafka, topic_name)
    producer = LogProducer(kafka, topic_name, queue_messages_max=ROOM)
    consumer = LogConsumer(kafka, topic_name)
    yield Subject(producer, consumer)
    await asyncio.to_thread(producer.close)
    consumer.close()


def messages(count: int, *, partition: int | None = None) -> list[Message]:
    return [
        Message(os.urandom(16), b"event %d" % number, number % 12 if partition is None else partition)
        for number in range(count)
    ]


async def test_what_was_acknowledged_lies_in_the_log_in_order(subject: Subject) -> None:
    sent = messages(500)
    next_offsets = dict(await subject.log.append(sent))
    assert sum(next_offsets.values()) == len(sent)
    assert await asyncio.to_thread(subject.lies, next_offsets) == sorted(sent, key=lambda one: one.partition)
    assert subject.log.queue_length() == 0


async def test_offsets_go_on_behind_what_lies_there(subject: Subject) -> None:
    assert dict(await subject.log.append(messages(3, partition=4))) == {4: 3}
    assert dict(await subject.log.append(messages(2, partition=4))) == {4: 5}
    assert dict(await subject.log.append([])) == {}


async def test_what_has_no_room_is_not_sent_at_all(subject: Subject) -> None:
    with pytest.raises(QueueFull):
        await subject.log.append(messages(ROOM + 1))
    assert dict(await subject.log.append(messages(1, partition=0))) == {0: 1}


async def test_many_batches_at_once_are_all_acknowledged(subject: Subject) -> None:
    found = await asyncio.gather(*(subject.log.append(messages(50, partition=7)) for _ in range(20)))
    assert max(one[7] for one in found) == 1_000


async def test_a_broker_that_is_away_leaves_the_outcome_unknown() -> None:
    producer = LogProducer("127.0.0.1:9", facts_topic().name, delivery_timeout_s=0.5, queue_messages_max=ROOM)
    with pytest.raises(OutcomeUnknown):
        await producer.append(messages(3))
    assert producer.queue_length() == 0
    with pytest.raises(QueueFull):
        await producer.append(messages(ROOM + 1))
    await asyncio.to_thread(producer.close, 0.1)
