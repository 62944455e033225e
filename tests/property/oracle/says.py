"""What the oracle is given: the events of one fact as plain data, instants as integers, ids as bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class OSupersedes:
    """What an assertion says it supersedes; None asks for the default."""

    version: bytes
    effective_at: int | None = None
    mode: str | None = None


@dataclass(frozen=True)
class OAssert:
    """A version exists; ``value`` is any text that is equal when the values are."""

    event_id: bytes
    recorded_at: int
    version: bytes
    value: str
    valid_from: int | None
    valid_to: int | None
    lifecycle: str = "ACTIVE"
    cardinality: str = "one"
    succession: str = "explicit"
    confidence: float | None = None
    supersedes: tuple[OSupersedes, ...] = ()
    valid_from_known: bool = True


@dataclass(frozen=True)
class OActivate:
    """A proposed version was admitted."""

    event_id: bytes
    recorded_at: int
    version: bytes


@dataclass(frozen=True)
class OSupersede:
    """A stated edge."""

    event_id: bytes
    recorded_at: int
    new: bytes
    old: bytes
    effective_at: int | None = None
    mode: str | None = None


@dataclass(frozen=True)
class OEnd:
    """A version stops holding."""

    event_id: bytes
    recorded_at: int
    version: bytes
    effective_at: int


@dataclass(frozen=True)
class ORevoke:
    """A version, or an end, a supersession or a decision, never counted."""

    event_id: bytes
    recorded_at: int
    version: bytes | None = None
    event: bytes | None = None


@dataclass(frozen=True)
class OResolve:
    """For a pair of versions: keep one, or neither."""

    event_id: bytes
    recorded_at: int
    left: bytes
    right: bytes
    keep: bytes | None
    decided_at: int


@dataclass(frozen=True)
class ORelation:
    """For a pair of text memories: how they relate, and who decided."""

    event_id: bytes
    recorded_at: int
    left: bytes
    right: bytes
    relation: str
    newer: bytes | None
    decided_at: int
    decided_by: str


@dataclass(frozen=True)
class OOther:
    """An event that says nothing about any answer; it is counted all the same."""

    event_id: bytes
    recorded_at: int


OEvent: TypeAlias = OAssert | OActivate | OSupersede | OEnd | ORevoke | OResolve | ORelation | OOther
OLog: TypeAlias = "list[OEvent]"
