"""What reads of a projection ask for and get, as answers spell it, so that nothing is spelled twice.

Instants go in as microseconds since 1970 and come out in RFC 3339, ids go in as 16 bytes and come out as UUID text,
values come out as their canonical JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from chronofact.contracts.position import Position
from chronofact.contracts.projection import StoredEvent
from chronofact.domain.identity import FactIdentity

KINDS: Final = ("unknown", "value", "conflict", "values")
"""Of an answer, by the number that a projection keeps."""


class Standing(NamedTuple):
    """A projection and how far it has come, in the snapshot that was read."""

    projection: str
    rule: int
    position: Position | None
    """None before the projection has read anything."""
    holds: bool
    """Whether messages of some fact are parked."""


class Ask(NamedTuple):
    """One fact at two instants; ``system_as_of`` None is everything applied."""

    fact_id: bytes
    valid_at: int
    system_as_of: int | None


class Found(NamedTuple):
    """The answer in numbers: kinds and reasons as in ``timeline``, versions by their number within the fact."""

    fact_no: int | None
    subject_label: str | None
    kind: int | None
    reason: int | None
    versions: list[int] | None
    valid_from: str | None
    valid_to: str | None
    version_id: str | None
    value: bytes | None
    recorded_at: str | None
    agreeing: list[str] | None
    """None where the winner stands alone."""


class WantedClaim(NamedTuple):
    """A version behind answer number ``at``."""

    at: int
    fact_no: int
    version_no: int
    system_as_of: int | None


class Claim(NamedTuple):
    """What a version says and, as known then, for how long."""

    at: int
    version_id: str
    value: bytes
    value_key: str
    """Equal where values are one by the rule of the projection that answers."""
    valid_from: str | None
    valid_to: str | None
    source_id: str
    recorded_at: str


class Silence(NamedTuple):
    """How long a fact says nothing."""

    valid_from: str | None
    valid_to: str | None


class FactHead(NamedTuple):
    """A fact of the tenant."""

    fact_no: int
    subject_id: str
    subject_label: str | None
    scope_kind: str
    scope_key: str
    fact_key: str
    event_seq: int
    versions: int
    conflicts_open: int
    lane_mode: int = 0


class StoredHistory(NamedTuple):
    """A fact of whatever tenant with every event that its projection has."""

    fact_id: bytes
    tenant_id: UUID
    head: FactHead
    events: list[StoredEvent]


class HeldFact(NamedTuple):
    """A fact of which messages are parked; ``identity`` None: the projection has no event of it."""

    fact_id: bytes
    held: int
    identity: FactIdentity | None


class ListedFact(NamedTuple):
    """A fact in a list, with its answer."""

    fact_id: str
    scope_kind: str
    scope_key: str
    fact_key: str
    as_of: str | None
    """As known when, where the list has a cut or the caller named an instant."""
    found: Found


class EventLine(NamedTuple):
    event_seq: int
    event_id: str
    recorded_at: str
    event_type: str
    version_ids: list[str]
    payload: str
    payload_hash: str
    partition: int
    offset: int


class VersionLine(NamedTuple):
    version_no: int
    version_id: str
    value: bytes
    value_hash: str
    valid_from: str | None
    valid_to: str | None
    recorded_at: str
    event_seq: int
    source_id: str
    source_hash: str
    lifecycle: str
    confidence: float | None
    supersedes_id: str | None
    superseded_by_id: str | None
    merged_into_id: str | None


class Rectangle(NamedTuple):
    """One answer over both clocks."""

    kind: int
    reason: int | None
    versions: list[int]
    valid_from: str | None
    valid_to: str | None
    known_from: str
    known_to: str | None


class Side(NamedTuple):
    """One version of a conflict edge."""

    version_id: str
    value: bytes
    valid_from: str | None
    valid_to: str | None
    source_id: str
    recorded_at: str


class Decision(NamedTuple):
    """The decision that counts for a pair; ``keep`` None is neither."""

    event_id: str
    keep: str | None
    decided_at: str
    decided_by: str | None
    reason: str | None


class Edge(NamedTuple):
    """A conflict edge as it is now."""

    left: Side
    right: Side
    relation: str
    recorded_at: str
    age_s: float
    fact_id: str
    head: FactHead
    pending: str | None
    """The version under review, where the pair contradicts each other by a verdict."""
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Scopes:
    """Which scopes a list is limited to: these, and those that start so; None is no limit."""

    exact: tuple[str, ...]
    prefixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactsWanted:
    """Which of a subject's facts, and where the page begins."""

    tenant_id: UUID
    subject_id: UUID
    scope: tuple[str, str] | None
    prefix: str | None
    scopes: Scopes | None
    valid_at: int
    system_as_of: int | None
    after: tuple[str, str, str]
    limit: int
    next_offsets: list[int] | None = None
    """The cut of the log that the list is read at, by partition; None: all that is applied."""


@dataclass(frozen=True, slots=True)
class EdgesWanted:
    """Which conflict edges, and where the page begins."""

    tenant_id: UUID
    relation: str | None
    subject_id: UUID | None
    key: str | None
    fact_id: bytes | None
    scopes: Scopes | None
    after: tuple[int, UUID, UUID, UUID] | None
    """Since when the last one was so, its fact and its versions."""
    limit: int
    next_offsets: list[int] | None = None
    version_id: bytes | None = None


class Watermarks(NamedTuple):
    """Where each partition of the log ends, as of when we asked."""

    topic_id: bytes
    next_offsets: Mapping[int, int]
