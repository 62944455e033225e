"""What turns messages into lines needs: messages, one transaction at a time, and a store that gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from chronofact.contracts.projection import Ask, Claim, Lines, ParkedMessage, Step, StoredFact


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
    memories: int = 0
    """Text memories with what was derived from them."""
    unreadable: int = 0
    """Assertions whose derived bytes can't be read; they are applied."""
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
        self.memories += other.memories
        self.unreadable += other.unreadable
        self.newest_appended_at = max(self.newest_appended_at, other.newest_appended_at)
        for mine, further in ((self.parked, other.parked), (self.retried, other.retried)):
            for code, count in further.items():
                mine[code] = mine.get(code, 0) + count
        for phase, seconds in other.phases_s.items():
            self.phases_s[phase] = self.phases_s.get(phase, 0) + seconds


class Batch(Protocol):
    """One transaction; leaving the context commits it, an exception rolls it back."""

    def advance(self, topic_id: bytes, steps: Sequence[Step]) -> Mapping[int, int]:
        """Lock and move the checkpoints, in partition order; tells each one's next offset before.

        Raises:
            Fenced: an epoch is not ours any more.
            Held: the batch goes beyond where a partition has to stop.
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

    def lines(self) -> Lines:
        """A batch's lines in the making, in the form in which they cost this store least."""
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
