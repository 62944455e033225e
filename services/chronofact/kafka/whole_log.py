"""A partition of the facts topic from an offset up to a high watermark, whatever lies at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from chronofact.contracts.topics import Topic
from chronofact.kafka.admin import Admin, TopicState, check
from chronofact.kafka.consumer import LogConsumer, RawMessage
from chronofact.runtime.failures import Transient

MESSAGES_MAX: Final = 5_000
WAIT_S: Final = 0.2
SILENT_S_MAX: Final = 20.0
READING: Final = {
    "enable.partition.eof": True,
    "queued.max.messages.kbytes": 16_384,
    "fetch.message.max.bytes": 4 * 2**20,
    "fetch.wait.max.ms": 20,
    # the default, a second, is what most of a partition's reading was spent on once its queue had filled
    "fetch.queue.backoff.ms": 5,
}


class WholeLog:
    """One topic, read by nobody's group and read uncommitted, as the projector reads it."""

    def __init__(self, bootstrap: str, topic: Topic, *, options: Mapping[str, str] | None = None) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._options = options
        self._consumer: LogConsumer | None = None

    def look(self, topic_id: bytes | None = None) -> TopicState:
        """The topic as it is now.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: it is missing, has lost its start, is not the one of that id, or is not as the catalogue says.
        """
        state = Admin(self._bootstrap, options=self._options).state(self._topic)
        check(self._topic, state, topic_id=topic_id, is_written=False)
        return state

    def read(self, partition: int, start: int, end: int) -> Iterator[list[RawMessage]]:
        """Every message from ``start`` below ``end``, in order.

        Over once a message or the log's own end lies at or behind ``end``: a marker of a transaction counts there, and
        no message tells of it.

        Raises:
            Transient: Kafka is away; go on behind the last message.
            Unfit: ``offset_out_of_range``, ``topic_missing``.
        """
        if start >= end:
            return
        consumer = self._consumer or LogConsumer(
            self._bootstrap, self._topic.name, options=self._options, further=READING
        )
        # kept for the next partition only if this one is read to its end
        self._consumer = None
        try:
            consumer.assign({partition: start})
            yield from self._read(consumer, partition, start, end)
        except BaseException:
            consumer.close()
            raise
        consumer.assign({})
        self._consumer = consumer

    def close(self) -> None:
        """Let go of the connection."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    @staticmethod
    def _read(consumer: LogConsumer, partition: int, start: int, end: int) -> Iterator[list[RawMessage]]:
        at, silent_s = start, 0.0
        consumer.ends.pop(partition, None)
        while max(at, consumer.ends.get(partition, 0)) < end:
            found = consumer.poll(min(MESSAGES_MAX, end - at), WAIT_S)
            if not found:
                silent_s += WAIT_S
                if silent_s > SILENT_S_MAX:
                    raise Transient("kafka_unreachable", f"partition {partition} gives nothing behind offset {at}")
                continue
            silent_s = 0.0
            at = found[-1].offset + 1
            if at > end:
                found = [one for one in found if one.offset < end]
            if found:
                yield found
