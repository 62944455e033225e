"""The facts topic as a group member reads it, on chronofact.kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chronofact.contracts.topics import Topic
from chronofact.kafka.admin import Admin, check
from chronofact.kafka.consumer import LogConsumer, RawMessage
from chronofact.projector.ports import Assignment, TopicLook
from chronofact.runtime.failures import Transient


class KafkaLog:
    """A membership in the projection's group.

    The assignor is ``range``, which takes all partitions away and gives them anew: a claim costs milliseconds and a
    member's histories outlive it, so the second round of a cooperative rebalance would buy nothing.
    """

    def __init__(
        self, make_consumer: Callable[[], LogConsumer], admin: Admin, topic: Topic, *, linger_s: float
    ) -> None:
        self._make_consumer = make_consumer
        self._admin = admin
        self._topic = topic
        self._linger_s = linger_s
        self._topic_id: bytes | None = None
        self._generation = 0
        self._partitions: frozenset[int] = frozenset()
        self._is_member = False
        self._started: frozenset[int] = frozenset()
        self._consumer = self._join()

    def poll(self, *, events_max: int, wait_s: float) -> Sequence[RawMessage]:
        """Waits for a first message, then a moment more for others to share its transaction."""
        messages = self._consumer.poll(1, wait_s)
        if messages and events_max > 1:
            messages += self._consumer.poll(events_max - 1, self._linger_s)
        return messages

    def assignment(self) -> Assignment:
        """As of the last ``poll``."""
        return Assignment(self._generation, self._partitions, self._is_member)

    def look(self) -> TopicLook:
        """Asks the broker; refuses a topic that differs from the catalogue or is not the one first seen."""
        state = self._admin.state(self._topic, is_partial=True)
        check(self._topic, state, topic_id=self._topic_id, is_written=False)
        self._topic_id = state.topic_id
        high = state.high_watermarks
        told = {one: (low, high[one]) for one, low in state.low_watermarks.items() if one in high}
        return TopicLook(state.topic_id, told, self._topic.partitions)

    def start(self, next_offsets: Mapping[int, int]) -> None:
        """Deliver these partitions from these offsets, and no others."""
        self._started = frozenset(next_offsets)
        self._consumer.assign(next_offsets)

    def ends(self) -> Mapping[int, int]:
        """The end of each started partition as last heard."""
        return {one: self._consumer.watermarks(one, cached=True)[1] for one in self._started}

    def commit(self, next_offsets: Mapping[int, int]) -> None:
        """A hint for lag monitors: a failure is of no matter."""
        try:
            self._consumer.commit(next_offsets)
        except Transient:
            return

    def rejoin(self) -> None:
        """Close the consumer and make another under the same name."""
        self._consumer.close()
        self._consumer = self._join()

    def close(self) -> None:
        """Leave; a static member's partitions stay with its name until the session ends."""
        self._consumer.close()

    def _join(self) -> LogConsumer:
        self._set(())
        consumer = self._make_consumer()
        consumer.subscribe(assigned=self._assigned, revoked=self._set, lost=self._set)
        return consumer

    def _assigned(self, partitions: Sequence[int]) -> Mapping[int, int]:
        self._set(())
        self._generation += 1
        self._partitions = frozenset(partitions)
        self._is_member = True
        return {}

    def _set(self, _revoked: Sequence[int]) -> None:
        self._generation += 1
        self._partitions = frozenset()
        self._is_member = False
        self._started = frozenset()
