"""What a comparison of two projections, or of one with a table of the user's, finds: differences by class (ADR 30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

Said = Mapping[str, Any]
"""One answer as a report shows it."""


class Sort(StrEnum):
    """What a difference is; all but the last are explained."""

    CORRECTING = "correcting"
    DISCOVERED_CONFLICT = "discovered_conflict"
    SCOPE_CHANGE = "scope_change"
    UNKNOWN = "unknown"


NOT_THERE: Final[Said] = {"kind": "not_there"}
"""The fact is not in the projection, or the key not in the table."""
NOT_DRAWN: Final = "not_drawn"
"""Kind of the rest of a picture that has too many stretches."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """An answer as known now, over ``[valid_from, valid_to)``; None is open."""

    valid_from: datetime | None
    valid_to: datetime | None
    kind: str
    reason: str | None
    value_hashes: tuple[bytes, ...]
    """Of the distinct values, a bounded number of them."""
    values_digest: str | None
    versions_digest: str | None
    said: Said

    def is_same(self, other: Stretch) -> bool:
        """Whether both are one answer, by the same versions."""
        return (self.kind, self.reason, self.values_digest, self.versions_digest) == (
            other.kind,
            other.reason,
            other.values_digest,
            other.versions_digest,
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that is not alike on both sides."""

    fact_id: UUID
    old_no: int | None
    new_no: int | None
    old_hash: bytes | None
    new_hash: bytes | None
    old_seq: int
    new_seq: int
    is_said_otherwise: bool
    """Its events are as many and tell other things: no rule does that."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the independent SQL says of a fact: nothing is wrong, what is, or that it could not judge all of it."""

    is_judged: bool = True
    wrong: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether it was judged and nothing is wrong."""
        return self.is_judged and self.wrong is None


@dataclass(frozen=True, slots=True)
class Difference:
    """A stretch of valid time, as known now, in which a fact's answers differ."""

    valid_from: datetime | None
    valid_to: datetime | None
    is_behind: bool
    """The answers are the same at all times, and what lies behind them is not."""
    sort: Sort
    reason: str
    old_said: Said
    new_said: Said
    gone: tuple[bytes, ...] = ()
    """Hashes of the values that only the old side answers."""
    come: tuple[bytes, ...] = ()
    stretches: int = 1


@dataclass(frozen=True, slots=True)
class Shadow:
    """One comparison over a window."""

    shadow_id: int
    old: str
    new: str
    state: str
    started_at: datetime
    until: datetime
    ended_at: datetime | None
    sweeps: int
    last_compared_at: datetime | None
    last_sweep_s: float | None
    facts: int
    facts_in_flight: int
    facts_differing: int
    facts_beyond: int
    failure: str | None


@dataclass(frozen=True, slots=True)
class Counted:
    """Differences of one tenant and class."""

    tenant_id: UUID
    sort: Sort
    differences: int
    facts: int
    settled: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One difference, with the fact that it is of."""

    fact_id: UUID
    tenant_id: UUID
    subject: str
    scope: str
    key: str
    valid_from: datetime | None
    valid_to: datetime | None
    is_behind: bool
    stretches: int
    sort: Sort
    reason: str
    old_said: Said
    new_said: Said
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison as it stands."""

    shadow: Shadow
    counted: Sequence[Counted] = field(default_factory=tuple)
    samples: Sequence[Sample] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep found."""

    facts: int
    in_flight: int
    differing: int
    judged: int
    seconds: float


class SweepRunning(Exception):
    """Somebody else compares just now: one at a time."""
