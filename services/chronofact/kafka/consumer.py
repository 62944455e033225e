"""Reads one topic as raw messages in batches; where to start is always said by the caller, never by Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from chronofact.kafka.errors import failure_of
from chronofact.kafka.options import client_options
from chronofact.runtime.failures import Transient


class RawMessage(NamedTuple):
    """One message; ``appended_at`` is the broker's append time in microseconds."""

    partition: int
    offset: int
    key: bytes
    value: bytes
    appended_at: int


class LogConsumer:
    """A consumer of one topic, in a group (``subscribe``) or on partitions of the caller's choice (``assign``).

    Isolation is read_uncommitted: our writers use no transactions, and a foreign one left open must not stop us.
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        member: str | None = None,
        options: Mapping[str, str] | None = None,
        further: Mapping[str, Any] | None = None,
    ) -> None:
        self._topic = topic
        self._failure: KafkaError | None = None
        self.ends: dict[int, int] = {}
        """Where a partition's log ended when last reached, markers of transactions included; with ``enable.partition.eof``."""
        settings = {
            **client_options(bootstrap, group or "reader", options),
            "group.id": group or "chronofact-explicit",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_uncommitted",
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 1_000,
            "partition.assignment.strategy": "range",
            "fetch.wait.max.ms": 50,
            "fetch.error.backoff.ms": 50,
            "queued.max.messages.kbytes": 16_384,
            "allow.auto.create.topics": False,
            **(further or {}),
        }
        if member is not None:
            settings["group.instance.id"] = member
        self._consumer = Consumer(settings)

    def subscribe(
        self,
        *,
        assigned: Callable[[list[int]], Mapping[int, int]],
        revoked: Callable[[list[int]], None],
        lost: Callable[[list[int]], None],
    ) -> None:
        """Joins the group.

        ``assigned`` returns the next offset of each partition that it is given; ``revoked`` is told before others take
        over, ``lost`` after. All three run inside ``poll``, and what they raise comes out of it.
        """

        def on_assign(consumer: Consumer, partitions: list[TopicPartition]) -> None:
            starts = assigned([one.partition for one in partitions])
            consumer.assign([TopicPartition(self._topic, one, starts[one]) for one in sorted(starts)])

        def on_revoke(consumer: Consumer, partitions: list[TopicPartition]) -> None:
            revoked([one.partition for one in partitions])
            consumer.unassign()

        def on_lost(consumer: Consumer, partitions: list[TopicPartition]) -> None:
            lost([one.partition for one in partitions])
            consumer.unassign()

        self._consumer.subscribe([self._topic], on_assign=on_assign, on_revoke=on_revoke, on_lost=on_lost)

    def assign(self, next_offsets: Mapping[int, int]) -> None:
        """Reads these partitions from these offsets, without a group."""
        self._consumer.assign([TopicPartition(self._topic, one, at) for one, at in sorted(next_offsets.items())])

    def poll(self, messages_max: int, timeout_s: float) -> list[RawMessage]:
        """Up to so many messages, or what came by the timeout; each partition's in offset order.

        Raises:
            Unfit: ``offset_out_of_range``, ``topic_missing``.
            Transient: ``kafka_consumer``: this consumer is of no more use; close it and make another.
        """
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure_of(failure)
        try:
            found = self._consumer.consume(messages_max, timeout_s)
        except KafkaException as error:
            raise failure_of(error.args[0]) from None
        return self._raw(found)

    def _raw(self, found: list[Message]) -> list[RawMessage]:
        messages = []
        for one in found:
            error = one.error()
            if error is None:
                messages.append(_raw_message(one))
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                self.ends[one.partition() or 0] = one.offset() or 0
            elif not error.retriable():
                self._failure = self._failure or error
        if self._failure is not None and not messages:
            failure, self._failure = self._failure, None
            raise failure_of(failure)
        return messages

    def commit(self, next_offsets: Mapping[int, int]) -> None:
        """Tells Kafka how far we are, without waiting: it is a hint for lag monitors only."""
        places = [TopicPartition(self._topic, one, at) for one, at in next_offsets.items()]
        self._call(lambda: self._consumer.commit(offsets=places, asynchronous=True))

    def watermarks(self, partition: int, *, timeout_s: float = 5, cached: bool = False) -> tuple[int, int]:
        """First offset and next offset of a partition; ``cached``: as last told with a fetch, without asking."""
        place = TopicPartition(self._topic, partition)
        found: tuple[int, int] | None = self._call(
            lambda: self._consumer.get_watermark_offsets(place, timeout_s, cached)
        )
        if found is None:
            raise Transient("kafka_unreachable", "Kafka does not tell the watermarks in time")
        return found

    def close(self) -> None:
        """Leaves; a static member's partitions stay with it until its session ends."""
        self._consumer.close()

    @staticmethod
    def _call(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except KafkaException as error:
            raise failure_of(error.args[0]) from None


def _raw_message(message: Any) -> RawMessage:
    return RawMessage(
        message.partition(),
        message.offset(),
        message.key() or b"",
        message.value() or b"",
        message.timestamp()[1] * 1_000,
    )
