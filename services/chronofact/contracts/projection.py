"""Lines of a projection as the projector writes them: ids as bytes, instants as microseconds, one tuple a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from chronofact.contracts.memory_lines import CheckedLine, MemoryLine
from chronofact.domain.rules import RULE_DEFAULT


class Head(NamedTuple):
    """What changes about a fact with each batch."""

    fact_no: int
    event_seq: int
    recorded_at: int
    versions: int
    lane_mode: int
    painted: int
    conflicts_open: int
    state_hash: bytes
    subject_label: str | None


class FactLine(NamedTuple):
    """A fact's number and its five parts, written once."""

    fact_no: int
    fact_id: bytes
    tenant_id: bytes
    subject_id: bytes
    scope_kind: str
    scope_key: str
    fact_key: str
    head: Head


class EventLine(NamedTuple):
    fact_no: int
    event_seq: int
    event_id: bytes
    recorded_at: int
    event_type: str
    version_ids: tuple[bytes, ...]
    payload: bytes
    payload_hash: bytes
    kafka_partition: int
    kafka_offset: int


class VersionLine(NamedTuple):
    fact_no: int
    version_no: int
    version_id: bytes
    value: bytes
    value_hash: bytes
    valid_from: int | None
    valid_to: int | None
    recorded_at: int
    event_seq: int
    source_id: str
    source_hash: bytes
    confidence: float | None
    lifecycle: str
    supersedes_id: bytes | None
    superseded_by_id: bytes | None
    merged_into_id: bytes | None


class LabelLine(NamedTuple):
    """A later change of a version's label; the newest ``event_seq`` counts."""

    fact_no: int
    version_no: int
    event_seq: int
    lifecycle: str
    supersedes_id: bytes | None
    superseded_by_id: bytes | None
    merged_into_id: bytes | None
    confidence: float | None


class EdgeLine(NamedTuple):
    fact_no: int
    event_id: bytes
    ordinal: int
    event_seq: int
    new_version_id: bytes
    old_version_id: bytes
    effective_at: int | None
    mode: str | None


class EndingLine(NamedTuple):
    fact_no: int
    event_id: bytes
    event_seq: int
    version_id: bytes
    effective_at: int


class DecisionLine(NamedTuple):
    fact_no: int
    event_id: bytes
    event_seq: int
    left_version_id: bytes
    right_version_id: bytes
    keep: bytes | None
    decided_at: int
    decided_by: str | None
    reason: str | None


class RelationLine(NamedTuple):
    fact_no: int
    event_id: bytes
    event_seq: int
    left_version_id: bytes
    right_version_id: bytes
    relation: str
    newer_version_id: bytes | None
    decided_at: int
    decided_by: str
    reason: str | None
    llm_call_made: bool
    model: str | None


class ConflictLine(NamedTuple):
    fact_no: int
    left_version_id: bytes
    right_version_id: bytes
    relation: str
    event_seq: int
    recorded_at: int


class TimelineLine(NamedTuple):
    fact_no: int
    lane: int
    known_from: int
    event_seq: int
    valid_from: int | None
    valid_to: int | None
    kind: int
    reason: int | None
    answer_key: bytes | None
    versions: tuple[int, ...] | None
    winner: int | None


HELD = "held"
"""The code of a message that could be applied but for an earlier parked one of its fact."""
NOT_COUNTED = (HELD, "drop_not_parked", "drop_misplaced")
"""Codes of parked messages that say nothing against us: the limits of parking leave them out."""


class ParkedLine(NamedTuple):
    """A message that can't be applied, as it came."""

    kafka_partition: int
    kafka_offset: int
    appended_at: int
    key: bytes
    value: bytes
    code: str
    reason: str
    fact_id: bytes | None
    """The fact that it holds; None where the key names none, or where it is of no fact's history."""


class ReleasedLine(NamedTuple):
    """A parked message that was applied after all."""

    kafka_partition: int
    kafka_offset: int


class DroppedLine(NamedTuple):
    """A message that is given up, by an EventDropped in its partition."""

    kafka_partition: int
    kafka_offset: int
    message_key: bytes
    drop_offset: int
    dropped_by: str
    reason: str
    dropped_at: int


class RetriedLine(NamedTuple):
    """A parked message that still can't be applied; nothing is asked of its fact any more."""

    kafka_partition: int
    kafka_offset: int
    fact_id: bytes | None
    code: str
    reason: str


@dataclass(slots=True)
class Lines:
    """Everything that one batch writes."""

    facts: list[FactLine] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)
    events: list[EventLine] = field(default_factory=list)
    versions: list[VersionLine] = field(default_factory=list)
    labels: list[LabelLine] = field(default_factory=list)
    edges: list[EdgeLine] = field(default_factory=list)
    endings: list[EndingLine] = field(default_factory=list)
    decisions: list[DecisionLine] = field(default_factory=list)
    relations: list[RelationLine] = field(default_factory=list)
    memories: list[MemoryLine] = field(default_factory=list)
    checks: list[CheckedLine] = field(default_factory=list)
    timeline: list[TimelineLine] = field(default_factory=list)
    conflicts_gone: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    conflicts_now: list[ConflictLine] = field(default_factory=list)
    parked: list[ParkedLine] = field(default_factory=list)
    released: list[ReleasedLine] = field(default_factory=list)
    dropped: list[DroppedLine] = field(default_factory=list)
    retried: list[RetriedLine] = field(default_factory=list)

    @property
    def timeline_count(self) -> int:
        """Lines of the timeline so far."""
        return len(self.timeline)

    def add_event(
        self,
        fact_no: int,
        event_seq: int,
        event_id: bytes,
        recorded_at: int,
        event_type: str,
        version_ids: tuple[bytes, ...],
        payload: bytes,
        payload_hash: bytes,
        kafka_partition: int,
        kafka_offset: int,
    ) -> None:
        """As ``EventLine``."""
        place = (kafka_partition, kafka_offset)
        told = (event_id, recorded_at, event_type, version_ids, payload, payload_hash)
        self.events.append(EventLine(fact_no, event_seq, *told, *place))

    def add_version(
        self,
        fact_no: int,
        version_no: int,
        version_id: bytes,
        value: bytes,
        value_hash: bytes,
        valid_from: int | None,
        valid_to: int | None,
        recorded_at: int,
        event_seq: int,
        source_id: str,
        source_hash: bytes,
        confidence: float | None,
        lifecycle: str,
        supersedes_id: bytes | None,
        superseded_by_id: bytes | None,
        merged_into_id: bytes | None,
    ) -> None:
        """As ``VersionLine``."""
        claim = (version_id, value, value_hash, valid_from, valid_to, recorded_at, event_seq, source_id, source_hash)
        label = (confidence, lifecycle, supersedes_id, superseded_by_id, merged_into_id)
        self.versions.append(VersionLine(fact_no, version_no, *claim, *label))

    def add_label(
        self,
        fact_no: int,
        version_no: int,
        event_seq: int,
        lifecycle: str,
        supersedes_id: bytes | None,
        superseded_by_id: bytes | None,
        merged_into_id: bytes | None,
        confidence: float | None,
    ) -> None:
        """As ``LabelLine``."""
        label = (lifecycle, supersedes_id, superseded_by_id, merged_into_id, confidence)
        self.labels.append(LabelLine(fact_no, version_no, event_seq, *label))

    def add_stretch(
        self,
        fact_no: int,
        lane: int,
        known_from: int,
        event_seq: int,
        valid_from: int | None,
        valid_to: int | None,
        kind: int,
        reason: int | None,
        answer_key: bytes | None,
        versions: tuple[int, ...] | None,
        winner: int | None,
    ) -> None:
        """As ``TimelineLine``."""
        answer = (kind, reason, answer_key, versions, winner)
        self.timeline.append(TimelineLine(fact_no, lane, known_from, event_seq, valid_from, valid_to, *answer))


class StoredEvent(NamedTuple):
    """An event as the projection keeps it, to be folded again."""

    event_id: bytes
    event_type: str
    recorded_at: int
    payload: bytes


class StoredFact(NamedTuple):
    """A fact that the projection knows, with all its events by ``event_seq``."""

    fact_no: int
    fact_id: bytes
    event_seq: int
    recorded_at: int
    lane_mode: int
    painted: int
    conflicts_open: int
    has_label: bool
    events: list[StoredEvent]


class Claim(NamedTuple):
    """What a new owner of a partition has to know."""

    epoch_before: int
    epoch: int
    next_offset: int
    fact_no_last: int
    held: frozenset[bytes]
    parked_offsets: tuple[int, ...]
    """Of the last 10,000, those parked for their own sake."""
    parked: int
    """How many messages are parked, held ones included."""
    dropped: Mapping[int, bytes]
    """Offsets that any projection of the topic has given up, each with its message's key."""
    rule: int = RULE_DEFAULT
    """The rule version of the projection's fold."""


class ParkedMessage(NamedTuple):
    """A parked message, to be tried again as if it had just been read."""

    partition: int
    offset: int
    appended_at: int
    key: bytes
    value: bytes
    fact_id: bytes | None


class Ask(NamedTuple):
    """What somebody wants tried again: all that is parked of a fact, or (``fact_id`` None) one message of no fact."""

    partition: int
    fact_id: bytes | None
    offset: int


class Step(NamedTuple):
    """How far one partition's checkpoint goes with a batch."""

    partition: int
    epoch: int
    next_offset: int


def beyond(steps: Iterable[Step], before: Mapping[int, int], stop_at: Mapping[int, int]) -> dict[int, int]:
    """Those holds that some step would break: all but moving the checkpoint up to where it has to stop (a release does not move it)."""
    return {
        step.partition: stop_at[step.partition]
        for step in steps
        if step.partition in stop_at and not before[step.partition] < step.next_offset <= stop_at[step.partition]
    }
