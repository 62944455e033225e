"""The facts topic from its start to a cut, read by nobody's group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chronofact.contracts.topics import Topic
from chronofact.kafka.admin import Admin
from chronofact.kafka.consumer import RawMessage
from chronofact.kafka.whole_log import WholeLog
from chronofact.runtime.failures import Unfit


class CheckedLog:
    """One topic."""

    def __init__(self, bootstrap: str, topic: Topic, *, options: Mapping[str, str] | None = None) -> None:
        self._topic = topic
        self._admin = Admin(bootstrap, options=options)
        self._log = WholeLog(bootstrap, topic, options=options)

    def topic_id(self) -> bytes:
        """Which topic it is now.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: ``topic_missing``.
        """
        return self._admin.topic_id(self._topic.name)

    def read(self, next_offsets: Mapping[int, int]) -> Iterator[list[RawMessage]]:
        """Every message below these offsets, partition after partition, in order.

        Raises:
            Transient: Kafka is away.
            Unfit: ``log_truncated``, ``log_shortened``, ``topic_missing``.
        """
        state = self._admin.state(self._topic)
        try:
            for partition, end in sorted(next_offsets.items()):
                low, high = (marks.get(partition, 0) for marks in (state.low_watermarks, state.high_watermarks))
                _refuse_gaps(partition, end, low, high)
                yield from self._log.read(partition, 0, end)
        finally:
            self._log.close()


def _refuse_gaps(partition: int, end: int, low: int, high: int) -> None:
    remedy = "restore the topic: the projection can't be checked against what is gone"
    if low > 0:
        raise Unfit("log_truncated", f"partition {partition} of the facts topic starts at offset {low}", remedy=remedy)
    if high < end:
        raise Unfit(
            "log_shortened", f"partition {partition} ends at {high}, but {end} messages were applied", remedy=remedy
        )
