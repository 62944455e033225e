"""What the projector needs from outside besides a store: a log to read, and someone to tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from chronofact.projecting.ports import Applied, Message
from chronofact.runtime.failures import Transient, Unfit


class Assignment(NamedTuple):
    """Partitions of this member; ``generation`` changes with every rebalance, even to the same partitions.

    ``is_member`` is False until the group has given it its share, be it none, and between two rounds of a rebalance.
    """

    generation: int
    partitions: frozenset[int]
    is_member: bool = True


class TopicLook(NamedTuple):
    """The topic as the broker has it now: its id, the first and next offset of each partition that has a leader, and how many partitions there are."""

    topic_id: bytes
    watermarks: Mapping[int, tuple[int, int]]
    partitions: int


class Log(Protocol):
    """The facts topic, read as a member of a group. An assigned partition is silent until ``start`` names it."""

    def poll(self, *, events_max: int, wait_s: float) -> Sequence[Message]:
        """Up to ``events_max`` messages, each partition's in offset order; waits up to ``wait_s`` for the first.

        Has to be called at least every few minutes, also with nothing started, to stay in the group.

        Raises:
            Transient: the membership broke; ``rejoin``.
            Unfit: the topic is gone or lacks the offset to go on from; ``rejoin`` once that is settled.
        """
        ...

    def assignment(self) -> Assignment:
        """As of the last ``poll``."""
        ...

    def look(self) -> TopicLook:
        """Asks the broker about the topic, and refuses one that differs from the catalogue.

        Raises:
            Unfit: the topic is not as it must be, or not the one first seen.
            Transient: the broker can't be asked.
        """
        ...

    def start(self, next_offsets: Mapping[int, int]) -> None:
        """From now on deliver these partitions, from these offsets, and no others; {} is silence."""
        ...

    def ends(self) -> Mapping[int, int]:
        """The end of each started partition as last heard, without asking the broker."""
        ...

    def commit(self, next_offsets: Mapping[int, int]) -> None:
        """Tell the group how far we are; a hint, neither awaited nor checked."""
        ...

    def rejoin(self) -> None:
        """Leave the group and join it anew."""
        ...

    def close(self) -> None:
        """Leave."""
        ...


class Observer(Protocol):
    """Who is told how it goes: health, metrics, log."""

    def hindered(self, failure: Transient | Unfit) -> None:
        """Nothing goes on until what is named has passed."""
        ...

    def ready(self, partitions: Sequence[int]) -> None:
        """Every assigned partition is owned and read from its checkpoint on."""
        ...

    def applied(self, result: Applied) -> None:
        """A batch is committed."""
        ...

    def parking(self, *, messages: int, facts: int) -> None:
        """Once a second: how many messages of our partitions are parked, and how many facts they hold."""
        ...

    def lag(self, events: Mapping[int, int], *, newest_appended_at: int) -> None:
        """Once a second: messages of each partition not applied yet, and when the newest applied one was appended."""
        ...


class Turn(Protocol):
    """Whose turn it is among the projections of a process: a batch is applied within it."""

    def events_max(self, most: int) -> int:
        """How many events the next batch may have."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
