"""The closed set of events: past tense, one fact each, immutable (semantics §2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from chronofact.domain.interval import Interval


class Lifecycle(StrEnum):
    """A label of the projection; PROPOSED and ACTIVE are also what an assertion may say."""

    PROPOSED = "PROPOSED"
    ACTIVE = "ACTIVE"
    SUPERSEDED = "SUPERSEDED"
    REVOKED = "REVOKED"


class Cardinality(StrEnum):
    """How many values a fact may hold at once."""

    ONE = "one"
    MANY = "many"


class Succession(StrEnum):
    """Whether a later-starting version supersedes earlier ones without being told to."""

    EXPLICIT = "explicit"
    AUTOMATIC = "automatic"


class Mode(StrEnum):
    """How long a supersession has effect: for ever, or for the new version's own time."""

    REPLACE = "replace"
    OVERRIDE = "override"


class Verdict(StrEnum):
    """The decided relation of two text memories."""

    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    NEAR_DUPLICATE = "near_duplicate"
    UNRELATED = "unrelated"


class Decider(StrEnum):
    """Who decided a relation; a person outranks rule and model."""

    RULE = "rule"
    MODEL = "model"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Supersession:
    """What an assertion says it supersedes; None asks for the defaults of semantics §3."""

    version_id: bytes
    effective_at: int | None = None
    mode: Mode | None = None


@dataclass(slots=True, init=False, unsafe_hash=True)
class FactAsserted:
    """A version exists. ``value`` is its canonical JSON, ``value_hash`` the SHA-256 of that.

    Final and not frozen, as ``Event`` is: made for each message, at a sixth of the cost.
    """

    version_id: Final[bytes]
    value: Final[bytes]
    value_hash: Final[bytes]
    valid: Final[Interval]
    source_id: Final[str]
    source_hash: Final[bytes]
    lifecycle: Final[Lifecycle]
    cardinality: Final[Cardinality]
    succession: Final[Succession]
    confidence: Final[float | None]
    supersedes: Final[tuple[Supersession, ...]]
    valid_from_known: Final[bool]

    def __init__(
        self,
        version_id: bytes,
        value: bytes,
        value_hash: bytes,
        valid: Interval,
        source_id: str,
        source_hash: bytes,
        lifecycle: Lifecycle = Lifecycle.ACTIVE,
        cardinality: Cardinality = Cardinality.ONE,
        succession: Succession = Succession.EXPLICIT,
        confidence: float | None = None,
        supersedes: tuple[Supersession, ...] = (),
        valid_from_known: bool = True,
    ) -> None:
        self.version_id = version_id
        self.value = value
        self.value_hash = value_hash
        self.valid = valid
        self.source_id = source_id
        self.source_hash = source_hash
        self.lifecycle = lifecycle
        self.cardinality = cardinality
        self.succession = succession
        self.confidence = confidence
        self.supersedes = supersedes
        self.valid_from_known = valid_from_known


@dataclass(frozen=True, slots=True)
class FactActivated:
    """A proposed version was admitted."""

    version_id: bytes
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FactSuperseded:
    """A new version supersedes an old one of the same fact."""

    new_version_id: bytes
    old_version_id: bytes
    effective_at: int | None = None
    mode: Mode | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FactEnded:
    """A version stops holding, with nothing in its place."""

    version_id: bytes
    effective_at: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FactRevoked:
    """A version, or the event of an end, a supersession or a decision, never counted; exactly one is named."""

    version_id: bytes | None = None
    event_id: bytes | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ConflictResolved:
    """For a pair of versions: keep one of them, or (None) neither."""

    left_version_id: bytes
    right_version_id: bytes
    keep: bytes | None
    decided_at: int
    decided_by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RelationDeclared:
    """For a pair of text memories: how they relate, and who decided."""

    left_version_id: bytes
    right_version_id: bytes
    relation: Verdict
    newer_version_id: bytes | None
    decided_at: int
    decided_by: Decider
    reason: str | None = None
    llm_call_made: bool = False
    model: str | None = None


@dataclass(frozen=True, slots=True)
class RelationsChecked:
    """The pairs of one text memory have been looked at, also when there were none."""

    version_id: bytes
    pairs: int
    decided: int
    pending: int
    reason: str | None = None
    llm_call_made: bool = False


@dataclass(frozen=True, slots=True)
class EventDropped:
    """A parked message was given up."""

    topic_id: str
    partition: int
    offset: int
    dropped_by: str
    reason: str


Happening: TypeAlias = (
    FactAsserted
    | FactActivated
    | FactSuperseded
    | FactEnded
    | FactRevoked
    | ConflictResolved
    | RelationDeclared
    | RelationsChecked
    | EventDropped
)
"""What an event says."""


@dataclass(slots=True, init=False, unsafe_hash=True)
class Event:
    """One event of one fact, as the log gives it: its id, its kind with content, and when it was learned."""

    event_id: Final[bytes]
    what: Final[Happening]
    recorded_at: Final[int]

    def __init__(self, event_id: bytes, what: Happening, recorded_at: int) -> None:
        self.event_id = event_id
        self.what = what
        self.recorded_at = recorded_at
