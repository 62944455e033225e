"""The facts topic and its group in memory; appended times are the test's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from chronofact.projector.ports import Assignment, TopicLook
from chronofact.runtime.failures import Transient, Unfit
from tests.integration.saying import PARTITIONS, Said

TOPIC_ID = bytes(range(16))


class Appended(NamedTuple):
    partition: int
    offset: int
    key: bytes
    value: bytes
    appended_at: int


class MemoryTopic:
    """The messages, and which member holds which partitions."""

    def __init__(self, topic_id: bytes = TOPIC_ID, *, partitions: int = PARTITIONS) -> None:
        self.topic_id = topic_id
        self.partitions: dict[int, list[Appended]] = {number: [] for number in range(partitions)}
        self.low: dict[int, int] = dict.fromkeys(range(partitions), 0)
        self.members: list[MemoryLog] = []

    def append(self, said: Iterable[Said], *, appended_at: int = 1_000_000) -> None:
        for one in said:
            self.append_raw(one.partition, one.key, one.value, appended_at=appended_at)

    def append_raw(self, partition: int, key: bytes, value: bytes, *, appended_at: int = 1_000_000) -> None:
        messages = self.partitions[partition]
        messages.append(Appended(partition, len(messages), key, value, appended_at))

    def join(self) -> MemoryLog:
        log = MemoryLog(self)
        self.admit(log)
        return log

    def admit(self, log: MemoryLog) -> None:
        self.members.append(log)
        self.rebalance()

    def dismiss(self, log: MemoryLog) -> None:
        if log in self.members:
            self.members.remove(log)
            self.rebalance()

    def rebalance(self) -> None:
        for place, member in enumerate(self.members):
            member.give(number for number in self.partitions if number % len(self.members) == place)


class MemoryLog:
    """One member's view of a topic."""

    def __init__(self, topic: MemoryTopic) -> None:
        self.topic = topic
        self.positions: dict[int, int] = {}
        self.committed: dict[int, int] = {}
        self.failures: list[Transient | Unfit] = []
        self.prefetched: list[Appended] = []
        self.is_deaf = False
        self._assignment = Assignment(0, frozenset())

    def give(self, partitions: Iterable[int]) -> None:
        if not self.is_deaf:
            self._assignment = Assignment(self._assignment.generation + 1, frozenset(partitions))
            self.positions = {}

    def leave_unheard(self) -> None:
        """As before the group has answered."""
        self._assignment = Assignment(self._assignment.generation + 1, frozenset(), is_member=False)

    def poll(self, *, events_max: int, wait_s: float) -> Sequence[Appended]:
        if self.failures:
            raise self.failures.pop(0)
        found = self.prefetched
        self.prefetched = []
        for partition, position in sorted(self.positions.items()):
            taken = self.topic.partitions[partition][position : position + events_max - len(found)]
            found += taken
            self.positions[partition] = position + len(taken)
        return found

    def assignment(self) -> Assignment:
        return self._assignment

    def look(self) -> TopicLook:
        ends = {number: len(messages) for number, messages in self.topic.partitions.items()}
        watermarks = {number: (self.topic.low[number], end) for number, end in ends.items()}
        return TopicLook(self.topic.topic_id, watermarks, len(ends))

    def start(self, next_offsets: Mapping[int, int]) -> None:
        self.positions = dict(next_offsets)

    def ends(self) -> Mapping[int, int]:
        return {number: len(self.topic.partitions[number]) for number in self.positions}

    def commit(self, next_offsets: Mapping[int, int]) -> None:
        self.committed |= next_offsets

    def rejoin(self) -> None:
        self.topic.dismiss(self)
        self.is_deaf = False
        self.topic.admit(self)

    def close(self) -> None:
        self.topic.dismiss(self)
