"""What the projector needs from outside: a log to read, a store to write, and someone to tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from chronofact.contracts.projection import Ask, Claim, Lines, ParkedMessage, Step, StoredFact
from chronofact.runtime.failures import Transient, Unfit


class Message(Protocol):
    """One message of the facts topic, undecoded; an absent key or value is empty."""

    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes: ...
    @property
    def value(self) -> bytes: ...
    @property
    def appended_at(self) -> int:
        """By the broker, in microseconds since 1970."""
        ...


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


@dataclass(slots=True)
class Applied:
    """How many messages met which end: APPLIED, ALREADY_APPLIED, PARKED (by code), or skipped: applied or dropped before."""

    applied: int = 0
    already_applied: int = 0
    skipped: int = 0
    parked: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    """Drops that count; each is a message too."""
    released: int = 0
    """Parked messages that were applied after all; they count under applied or already_applied as well."""
    retried: dict[str, int] = field(default_factory=dict)
    """Parked messages that were tried again in vain, by code."""
    batches: int = 0
    facts_loaded: int = 0
    timeline_lines: int = 0
    newest_appended_at: int = 0
    phases_s: dict[str, float] = field(default_factory=dict)

    @property
    def messages(self) -> int:
        """All that were read from the log."""
        outcomes = self.applied + self.already_applied + self.skipped + self.dropped + sum(self.parked.values())
        return outcomes - self.released

    def add(self, other: Applied) -> None:
        """Sum up the parts of a divided batch."""
        self.applied += other.applied
        self.already_applied += other.already_applied
        self.skipped += other.skipped
        self.dropped += other.dropped
        self.released += other.released
        self.batches += other.batches
        self.facts_loaded += other.facts_loaded
        self.timeline_lines += other.timeline_lines
        self.newest_appended_at = max(self.newest_appended_at, other.newest_appended_at)
        for mine, further in ((self.parked, other.parked), (self.retried, other.retried)):
            for code, count in further.items():
                mine[code] = mine.get(code, 0) + count
        for phase, seconds in other.phases_s.items():
            self.phases_s[phase] = self.phases_s.get(phase, 0) + seconds


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


class Batch(Protocol):
    """One transaction; leaving the context commits it, an exception rolls it back."""

    def advance(self, topic_id: bytes, steps: Sequence[Step]) -> Mapping[int, int]:
        """Lock and move the checkpoints, in partition order; tells each one's next offset before.

        Raises:
            Fenced: an epoch is not ours any more.
        """
        ...

    def load(self, fact_ids: Sequence[bytes]) -> Sequence[StoredFact]:
        """Those of the facts that are known, with all their events."""
        ...

    def parked_of(
        self, partition: int, fact_id: bytes, *, messages_max: int, after: int = -1
    ) -> Sequence[ParkedMessage]:
        """The first messages of a fact behind an offset that are still parked, in offset order."""
        ...

    def parked_at(self, partition: int, offset: int) -> ParkedMessage | None:
        """The message of that place, if it is parked."""
        ...

    def write(self, lines: Lines) -> None:
        """Add all lines; what is released or dropped is parked no more. May be called again in one batch.

        Raises:
            ConstraintBroken: some line can never be written.
        """
        ...


class Store(Protocol):
    """One projection in the database. Every call may raise ``Transient`` or ``Unfit``."""

    def claim(self, topic_id: bytes, partition: int, *, watermarks: tuple[int, int]) -> Claim:
        """Become the partition's owner, in a transaction of its own.

        Raises:
            Unfit: the checkpoint is of another topic, or the broker does not hold all that it counts.
        """
        ...

    def begin(self) -> AbstractContextManager[Batch]:
        """Start a batch."""
        ...

    def asked(self, topic_id: bytes, partitions: Sequence[int]) -> Sequence[Ask]:
        """What is to be tried again in these partitions, first asked first."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


class Observer(Protocol):
    """Who is told how it goes: health, metrics, log."""

    def hindered(self, failure: Transient | Unfit, *, pause_s: float) -> None:
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
