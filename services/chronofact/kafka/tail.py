"""Reads the facts topic near its end, for answers that can't wait for a projection."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from chronofact.contracts.tail import Stretch, Tail, TailBounds, TailMessage
from chronofact.contracts.topics import Topic
from chronofact.kafka.admin import Admin
from chronofact.kafka.errors import failure_of
from chronofact.kafka.options import client_options
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.failures import Transient

_CHUNK: Final = 1_000
_DOWN: Final = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 - confluent_kafka's spelling of client-side codes
        KafkaError._RESOLVE,  # noqa: SLF001
    }
)
_GRACE_S: Final = 0.2
"""How long a log that seems to end too early is asked again: a new leader learns its end late."""


class TopicTail:
    """A few consumers that stay connected; each reading has one for itself, and makes one where none is free."""

    def __init__(
        self, bootstrap: str, topic: Topic, *, kept_max: int, options: Mapping[str, str] | None = None
    ) -> None:
        self.partitions = topic.partitions
        self._bootstrap = bootstrap
        self._topic = topic.name
        self._options = options
        self._kept_max = kept_max
        self._admin = Admin(bootstrap, timeout_s=1, options=options)
        self._idle: list[_Reader] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def partition_of(self, fact_id: bytes) -> int:
        """Where the events of a fact lie."""
        return partition_of(fact_id, self.partitions)

    def read(self, wanted: Sequence[Stretch], keys: Collection[bytes], bounds: TailBounds) -> Tail:
        """The messages of those keys, each partition from its start to its end as known when the reading began.

        Stops early where a bound is met: ``next_offsets`` tells how far it came, ``is_cut`` that it was a bound.

        Raises:
            Transient: Kafka can't be reached.
            Unfit: the topic is gone, or lacks the offset to start from.
        """
        with self._reader() as reader:
            found = reader.read(wanted, keys, bounds)
        # asked after the messages came: they are of this topic, not of one that has taken its name since
        return found._replace(topic_id=self._admin.topic_id(self._topic))

    def close(self) -> None:
        """Lets go of every connection that no reading has; a reading that still runs closes its own."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()

    @contextmanager
    def _reader(self) -> Iterator[_Reader]:
        with self._lock:
            reader = self._idle.pop() if self._idle else None
        if reader is None:
            reader = _Reader(self._bootstrap, self._topic, self._options)
        is_well = False
        try:
            yield reader
            is_well = True
        finally:
            with self._lock:
                keeps = is_well and not self._is_closed and len(self._idle) < self._kept_max
                if keeps:
                    self._idle.append(reader)
            if not keeps:
                reader.close()


class _Reader:
    """One consumer; between readings it is assigned nothing, and so fetches nothing and holds nothing."""

    def __init__(self, bootstrap: str, topic: str, options: Mapping[str, str] | None) -> None:
        self._topic = topic
        self._down: KafkaError | None = None
        self._consumer = Consumer(
            {
                **client_options(bootstrap, "tail", options),
                "group.id": "chronofact-tail",  # asked for by the library; nothing joins it
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                # as the projector reads: a foreign transaction left open must not hide what it has applied
                "isolation.level": "read_uncommitted",
                "allow.auto.create.topics": False,
                "fetch.wait.max.ms": 0,
                "fetch.error.backoff.ms": 20,
                "fetch.queue.backoff.ms": 1,
                "queued.min.messages": 10_000,
                "queued.max.messages.kbytes": 8_192,
                "error_cb": self._told,
            }
        )

    def read(self, wanted: Sequence[Stretch], keys: Collection[bytes], bounds: TailBounds) -> Tail:
        """As ``TopicTail.read``, with the topic's id left blank."""
        scan = _Scan(wanted, keys, bounds)
        until = time.monotonic() + bounds.timeout_s
        self._down = None
        try:
            self._consumer.assign([TopicPartition(self._topic, one.partition, one.start) for one in wanted])
            while scan.goes_on() and (left_s := until - time.monotonic()) > 0:
                # a wait is for the first message only: to ask for more would be to wait until there are so many
                for message in self._consumer.consume(1, min(left_s, _GRACE_S)):
                    scan.take(message)
                    for another in self._consumer.consume(_CHUNK, 0):
                        scan.take(another)
                if self._down is not None and not scan.has_begun:
                    raise Transient("kafka_unreachable", f"Kafka can't be reached: {self._down.name()}")
            self._consumer.unassign()
        except KafkaException as error:
            raise failure_of(error.args[0]) from None
        if not scan.has_begun:
            raise Transient("kafka_unreachable", "Kafka does not send the end of the log in time")
        return scan.tail()

    def close(self) -> None:
        """Disconnects."""
        self._consumer.close()

    def _told(self, error: KafkaError) -> None:
        if error.code() in _DOWN:
            self._down = error


class _Scan:
    """What has been read so far, and whether that is all."""

    def __init__(self, wanted: Sequence[Stretch], keys: Collection[bytes], bounds: TailBounds) -> None:
        self._at_least = {one.partition: one.at_least for one in wanted}
        self._keys = keys
        self._bounds = bounds
        self._scanned = self._bytes = 0
        self._found: list[TailMessage] = []
        self._starts = {one.partition: one.start for one in wanted}
        self._next = dict(self._starts)
        self._ended: dict[int, float] = {}
        self.has_begun = False

    def goes_on(self) -> bool:
        """Whether something may still come: every partition is read to its end, and an end that is early asked again."""
        if self._is_cut():
            return False
        now = time.monotonic()
        for partition, at_least in self._at_least.items():
            ended_at = self._ended.get(partition)
            if ended_at is None or (self._next[partition] < at_least and now - ended_at < _GRACE_S):
                return True
        return False

    def _is_cut(self) -> bool:
        bounds = self._bounds
        return (
            self._scanned >= bounds.scanned_max or len(self._found) > bounds.found_max or self._bytes > bounds.bytes_max
        )

    def take(self, message: Any) -> None:
        """One message, or the news that a partition has ended."""
        error = message.error()
        partition = message.partition()
        if error is None:
            self.has_begun = True
            offset = message.offset()
            self._scanned += 1
            self._next[partition] = offset + 1
            key = message.key() or b""
            if key in self._keys:
                value, (_, appended_ms) = message.value() or b"", message.timestamp()
                self._bytes += len(value)
                self._found.append(TailMessage(partition, offset, key, value, appended_ms * 1_000))
        elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
            self.has_begun = True
            self._next[partition] = max(self._next[partition], message.offset())
            self._ended.setdefault(partition, time.monotonic())
        elif not error.retriable():
            raise failure_of(error)

    def tail(self) -> Tail:
        """All of it."""
        self._found.sort(key=lambda one: (one.partition, one.offset))
        is_cut = self._is_cut()
        return Tail(b"", self._found, self._starts, self._next, frozenset(self._ended), self._scanned, is_cut)
