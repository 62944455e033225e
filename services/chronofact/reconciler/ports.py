"""What the reconciler needs from outside: checks as they are kept, a projection at one cut, and the log up to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID

from chronofact.contracts.checking import CheckWanted, Divergence, Run, StoredLine, Tally


class LogMessage(Protocol):
    """One message of the log; ``appended_at`` is the broker's append time in microseconds."""

    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes: ...
    @property
    def value(self) -> bytes: ...
    @property
    def appended_at(self) -> int: ...


class Log(Protocol):
    """The facts topic, read from its start."""

    def topic_id(self) -> bytes:
        """Which topic it is now."""
        ...

    def read(self, next_offsets: Mapping[int, int]) -> Iterator[Sequence[LogMessage]]:
        """Every message below these offsets, each partition's in order, partition after partition.

        Raises:
            Transient: Kafka is away.
            Unfit: the log does not reach that far, or has lost its start.
        """
        ...


class Cut(Protocol):
    """A projection as it was in one snapshot, for one worker."""

    def judge(self, first: int, last: int) -> tuple[list[Divergence], Tally]:
        """Compares the facts of these numbers with their events: what differs, and what was done."""
        ...

    def stored(self, partition: int) -> Iterator[StoredLine]:
        """What the projection keeps of each message of a partition, by offset."""
        ...

    def known(self, messages: Sequence[tuple[bytes, bytes, int]]) -> set[int]:
        """Which of these (fact id, event id, offset) were applied from an earlier offset, by their places."""
        ...

    def first_asserted(self, events: Sequence[tuple[int | None, int]]) -> set[int]:
        """Which of these (fact number, event sequence) first asserted a version, by their places."""
        ...


class CheckRun(Protocol):
    """One check at work: it owns its projection's lock and its line in the list of runs."""

    run_id: int
    wanted: CheckWanted
    topic_id: UUID | None
    next_offsets: Mapping[int, int]
    facts_total: int

    def take_snapshot(self) -> None:
        """The cut: what the projection holds now, and the offsets that it holds it up to.

        Raises:
            Unfit: ``projection_missing``.
        """
        ...

    def chunks(self) -> Sequence[tuple[int, int]]:
        """Ranges of fact numbers, both ends in, that cover every line that there is or could be."""
        ...

    def make_table(self, shares: Sequence[tuple[int, int]]) -> None:
        """An empty table of answers, with a leaf for each share of fact numbers."""
        ...

    def cut(self, share: int | None = None) -> AbstractContextManager[Cut]:
        """A worker's look at the snapshot; its share's answers are kept once the block ends well."""
        ...

    def adjudicate(self, share: int) -> list[Divergence]:
        """Names overlaps in a share, then puts the rest under the constraint that there are none."""
        ...

    def found(self, divergences: Iterable[Divergence]) -> None:
        """Keeps what differs."""
        ...

    def progress(self, tally: Tally) -> None:
        """How far it has come."""
        ...

    def finish(self) -> None:
        """The run is whole; older answers are dropped."""
        ...

    def fail(self, why: str) -> None:
        """The run came to nothing."""
        ...


class Checks(Protocol):
    """The kept runs."""

    def begin(self, wanted: CheckWanted) -> AbstractContextManager[CheckRun]:
        """A new run; marks those failed that died.

        Raises:
            CheckRunning: another one is at work on this projection.
        """
        ...

    def runs(self, *, before: int | None, limit: int) -> list[Run]:
        """Newest first."""
        ...

    def run(self, run_id: int) -> Run | None:
        """One of them."""
        ...

    def routed(self) -> list[str]:
        """The projections that tenants read, that of all without a line of their own first."""
        ...

    def divergences(self, run_id: int, *, after: int, limit: int) -> list[tuple[int, Divergence]]:
        """What it found, by number."""
        ...
