"""The facts topic from its start to a cut, read by nobody's group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chronofact.contracts.topics import Topic
from chronofact.kafka.admin import Admin
from chronofact.kafka.consumer import LogConsumer, RawMessage
from chronofact.runtime.failures import Transient, Unfit

MESSAGES_MAX = 5_000
WAIT_S = 1.0
SILENT_S_MAX = 20


class CheckedLog:
    """One topic."""

    def __init__(self, bootstrap: str, topic: Topic, *, options: Mapping[str, str] | None = None) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._options = options

    def topic_id(self) -> bytes:
        """Which topic it is now.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: ``topic_missing``.
        """
        return Admin(self._bootstrap, options=self._options).state(self._topic).topic_id

    def read(self, next_offsets: Mapping[int, int]) -> Iterator[list[RawMessage]]:
        """Every message below these offsets, partition after partition, in order.

        Raises:
            Transient: Kafka is away.
            Unfit: ``log_truncated``, ``log_shortened``, ``topic_missing``.
        """
        state = Admin(self._bootstrap, options=self._options).state(self._topic)
        for partition, end in sorted(next_offsets.items()):
            _refuse_gaps(
                partition, end, state.low_watermarks.get(partition, 0), state.high_watermarks.get(partition, 0)
            )
            if end > 0:
                yield from self._partition(partition, end)

    def _partition(self, partition: int, end: int) -> Iterator[list[RawMessage]]:
        consumer = LogConsumer(
            self._bootstrap, self._topic.name, options=self._options, further={"queued.max.messages.kbytes": 8_192}
        )
        try:
            consumer.assign({partition: 0})
            at, silent_s = 0, 0.0
            while at < end:
                found = consumer.poll(min(MESSAGES_MAX, end - at), WAIT_S)
                if not found:
                    silent_s += WAIT_S
                    if silent_s > SILENT_S_MAX:
                        raise Transient("kafka_unreachable", f"partition {partition} gives nothing behind offset {at}")
                    continue
                silent_s = 0.0
                at = found[-1].offset + 1
                yield [one for one in found if one.offset < end]
        finally:
            consumer.close()


def _refuse_gaps(partition: int, end: int, low: int, high: int) -> None:
    remedy = "restore the topic: the projection can't be checked against what is gone"
    if low > 0:
        raise Unfit("log_truncated", f"partition {partition} of the facts topic starts at offset {low}", remedy=remedy)
    if high < end:
        raise Unfit(
            "log_shortened", f"partition {partition} ends at {high}, but {end} messages were applied", remedy=remedy
        )
