"""The facts topic with a group whose members fall asleep, come back, and hear of a rebalance only when they poll."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from chronofact.projector.ports import Assignment, TopicLook
from tests.contract.memory_log import Appended, MemoryLog, MemoryTopic
from tests.simulation.dice import Dice
from tests.simulation.scheduler import Scheduler, Task

MARKER: Final = b"\x00marker"
"""The key of what has an offset and is never delivered, as the end of a foreign transaction."""


class SimTopic(MemoryTopic):
    """Partitions, and a coordinator that gives them away without asking who still works on them."""

    def __init__(self, partitions: int, scheduler: Scheduler, dice: Dice) -> None:
        super().__init__(partitions=partitions)
        self.scheduler = scheduler
        self.dice = dice
        self.waiting: list[Task] = []

    def append_raw(self, partition: int, key: bytes, value: bytes, *, appended_at: int = 1_000_000) -> None:
        super().append_raw(partition, key, value, appended_at=appended_at)
        self.wake()

    def append_marker(self, partition: int) -> None:
        """An offset that no message has."""
        super().append_raw(partition, MARKER, b"", appended_at=0)

    def wake(self) -> None:
        """Polls that wait need not any longer."""
        for task in self.waiting:
            self.scheduler.wake(task)
        self.waiting = []

    def rebalance(self) -> None:
        """Every partition has one owner, as the coordinator sees it."""
        shares: list[list[int]] = [[] for _ in self.members]
        for number in self.dice.order(list(self.partitions)) if shares else ():
            self.dice.pick(shares).append(number)
        for member, share in zip(self.members, shares, strict=True):
            member.give(share)
        self.wake()


class SimLog(MemoryLog):
    """One member; every call can be paused in, and deliveries repeat themselves or run ahead."""

    topic: SimTopic

    def __init__(self, topic: SimTopic, step: Callable[[str], None]) -> None:
        super().__init__(topic)
        self._step = step
        self._given: frozenset[int] | None = None
        self._jumped: set[tuple[int, int]] = set()

    def give(self, partitions: Iterable[int]) -> None:
        """Heard of at the next poll."""
        self._given = frozenset(partitions)

    @property
    def share(self) -> frozenset[int]:
        """What is its own as the coordinator sees it."""
        return self._assignment.partitions if self._given is None else self._given

    def poll(self, *, events_max: int, wait_s: float) -> Sequence[Appended]:
        self._step("poll")
        if self not in self.topic.members:
            self.topic.admit(self)
        early = self._fetch(events_max) if self._given is not None and self.topic.dice.chance(30) else []
        self._hear()
        found = early or self._fetch(events_max)
        if not found:
            self._wait(wait_s)
            self._hear()
            found = self._fetch(events_max)
        return found

    def look(self) -> TopicLook:
        self._step("look")
        return super().look()

    def start(self, next_offsets: Mapping[int, int]) -> None:
        self._step("start")
        super().start(next_offsets)

    def ends(self) -> Mapping[int, int]:
        self._step("ends")
        return super().ends()

    def commit(self, next_offsets: Mapping[int, int]) -> None:
        self._step("hint")
        super().commit(next_offsets)

    def rejoin(self) -> None:
        self._step("rejoin")
        super().rejoin()

    def close(self) -> None:
        self._step("close")
        super().close()

    def _wait(self, wait_s: float) -> None:
        scheduler = self.topic.scheduler
        self.topic.waiting.append(scheduler.current)
        scheduler.block("wait", timeout_s=wait_s)

    def _hear(self) -> None:
        """What this poll brings of a rebalance."""
        if self._given is not None:
            self._assignment = Assignment(self._assignment.generation + 1, self._given)
            self._given = None
            self.positions = {}

    def _fetch(self, events_max: int) -> list[Appended]:
        found: list[Appended] = []
        for partition in self.topic.dice.order(sorted(self.positions)):
            room = events_max - len(found)
            if room > 0:
                found += self._fetch_one(
                    partition, self.topic.dice.count(0, room) if self.topic.dice.chance(30) else room
                )
        return found

    def _fetch_one(self, partition: int, count: int) -> list[Appended]:
        messages = self.topic.partitions[partition]
        position = self._perhaps_elsewhere(partition, self.positions[partition])
        taken = messages[position : position + count]
        self.positions[partition] = position + len(taken)
        return [message for message in taken if message.key != MARKER]

    def _perhaps_elsewhere(self, partition: int, position: int) -> int:
        """Now and then a delivery repeats what came before; once for each offset it runs ahead."""
        dice, counts = self.topic.dice, self.topic.scheduler.counts
        if position and dice.chance(2):
            counts["redelivered"] += 1
            return position - dice.count(1, min(position, 5))
        if (
            dice.chance(3)
            and position < len(self.topic.partitions[partition])
            and (partition, position) not in self._jumped
        ):
            self._jumped.add((partition, position))
            counts["ran ahead"] += 1
            return position + 1
        return position
