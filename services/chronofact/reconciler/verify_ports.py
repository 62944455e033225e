"""What a verification needs from outside: projections in a snapshot, a hold on one that is fed, and a place for what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from types import TracebackType
from typing import Protocol, Self, TypeAlias
from uuid import UUID

from chronofact.contracts.verification import (
    Aspects,
    Cut,
    Difference,
    NamedFact,
    Verification,
    VerifyTally,
    VerifyWanted,
)

Total: TypeAlias = tuple[int, Decimal | None]
"""How many lines, and the sum of their hashes."""


class Heads(Protocol):
    """The same of a partition's facts, and which numbers they have."""

    @property
    def total(self) -> Total: ...
    @property
    def numbers(self) -> Decimal | None: ...


class FactTotal(Protocol):
    """The same of one table of one fact; without a fact, of lines that no fact owns."""

    @property
    def fact_id(self) -> UUID | None: ...
    @property
    def aspect(self) -> str: ...
    @property
    def total(self) -> Total: ...


class LaneLine(Protocol):
    """One stretch painted on the lane of a version; instants in microseconds."""

    @property
    def lane(self) -> int: ...
    @property
    def event_seq(self) -> int: ...
    @property
    def known_from(self) -> str: ...
    @property
    def valid_from(self) -> int | None: ...
    @property
    def valid_to(self) -> int | None: ...
    @property
    def kind(self) -> int: ...
    @property
    def reason(self) -> int | None: ...
    @property
    def answer_key(self) -> UUID | None: ...
    @property
    def versions(self) -> Sequence[int] | None: ...
    @property
    def winner(self) -> int | None: ...


class Side(Protocol):
    """One projection as it was in one snapshot, for one worker."""

    def heads(self) -> Mapping[int, Heads]:
        """Of each partition that has facts."""
        ...

    def spread(self, aspect: str) -> Mapping[int, Total]:
        """Of each partition that has lines in a table without leaves, its facts told by their numbers."""
        ...

    def leaf(self, aspect: str, partition: int) -> Total:
        """Of a partition's leaf of a table, its facts told by their numbers."""
        ...

    def totals(self, partition: int) -> Mapping[str, Total] | None:
        """Of each table of a partition, its facts told by their ids; None where they have to be taken fact by fact."""
        ...

    def facts(self, partition: int, aspects: Iterable[str]) -> Iterator[FactTotal]:
        """Of each fact of a partition and each of these tables, by fact and table; those of no fact last."""
        ...

    def named(self, fact_ids: Sequence[UUID]) -> Mapping[UUID, tuple[int, NamedFact]]:
        """Number and name of those of the facts that are known here."""
        ...

    def lines(self, aspect: str, fact_nos: Sequence[int]) -> Sequence[tuple[int, str]]:
        """A table's lines of these facts as JSON, with the fact's number; values as hashes."""
        ...

    def stray(self, aspect: str, partition: int) -> Sequence[str]:
        """A table's lines of numbers that no fact of this partition has."""
        ...

    def lanes(self, fact_no: int) -> Sequence[LaneLine]:
        """What was painted on the lanes of a fact's versions, lane by lane, in order."""
        ...

    def places_total(self, table: str) -> Total:
        """Of all that is parked, or dropped."""
        ...

    def places(self, table: str) -> Iterator[tuple[tuple[int, int], UUID | None, str]]:
        """Each with its place, its fact where it has one, and itself as JSON, in the order of the log."""
        ...


class Snapshot(Protocol):
    """One snapshot of the database, held while the block runs."""

    @property
    def cuts(self) -> Mapping[str, Cut]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def sides(self, *projections: str, aspects: Aspects, partitions: int) -> AbstractContextManager[tuple[Side, ...]]:
        """A worker's look at each of these projections."""
        ...


class Snapshots(Protocol):
    """The database."""

    def take(self, *projections: str) -> Snapshot:
        """What these projections hold now.

        Raises:
            Unfit: ``projection_missing``.
        """
        ...

    def look(self, *projections: str) -> Mapping[str, Cut]:
        """How far these have come now, and no more."""
        ...


class Feeding(Protocol):
    """Whoever feeds projections obeys a hold."""

    def hold(self, projection: str, stop_at: Mapping[int, int], *, for_s: float) -> None:
        """From now on, for so long unless said again, no message at or behind these offsets is applied."""
        ...

    def let_go(self, projection: str) -> None:
        """It may go on."""
        ...


class Run(Protocol):
    """One verification at work."""

    verification_id: int

    def took_cut(self, topic_id: UUID | None, next_offsets: Mapping[int, int]) -> None:
        """The common cut is found."""
        ...

    def progress(self, tally: VerifyTally) -> None:
        """How far it has come."""
        ...

    def found(self, differences: Sequence[Difference]) -> None:
        """Keeps what differs."""
        ...

    def finish(self, tally: VerifyTally) -> None:
        """All of it was compared."""
        ...


class Verifications(Protocol):
    """The kept ones."""

    def begin(self, wanted: VerifyWanted) -> AbstractContextManager[Run]:
        """A new one; whatever ends it early marks it failed.

        Raises:
            VerificationRunning: another one is at work on one of the two.
        """
        ...


class KeptVerifications(Verifications, Protocol):
    """All that there were, to be looked at."""

    def verifications(self, *, before: int | None, limit: int) -> list[Verification]:
        """Newest first."""
        ...

    def verification(self, verification_id: int) -> Verification | None:
        """One of them."""
        ...

    def differences(self, verification_id: int, *, after: int, limit: int) -> list[tuple[int, Difference]]:
        """What it found and keeps, by number."""
        ...

    def bury(self) -> None:
        """Marks failed what is still said to run, though its process died."""
        ...
