"""What a feed of changed answers passes on: what was painted by which event, and how far a listener has come."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from chronofact.contracts.position import TOPIC_ID_BYTES, Position, put_varint, raw_of, take_varint
from chronofact.contracts.reading import Scopes
from chronofact.domain.errors import Rejected

_VERSION: Final = 0x81
"""Unlike a position's, so that neither is taken for the other."""
_PARTITION_MAX: Final = 2**15 - 1
_NUMBER_MAX: Final = 2**63 - 1

OPEN_START: Final = ""
OPEN_END: Final = "~"
"""Open bounds of a stroke; all others are RFC 3339 without the Z, so that text order is time order."""


class Reached(NamedTuple):
    """How far one partition was read: before which offset, and which release of a parked message was the last."""

    next_offset: int
    released: int = 0


@dataclass(slots=True)
class Place:
    """How far a listener has come in a projection of a topic; its token is the ``id`` of a server-sent event."""

    topic_id: bytes
    projection: str
    reached: dict[int, Reached] = field(default_factory=dict)
    _spelled: dict[int, bytes] = field(default_factory=dict)

    def copy(self) -> Place:
        """Another that moves by itself."""
        return Place(self.topic_id, self.projection, dict(self.reached), dict(self._spelled))

    def move(self, partition: int, reached: Reached) -> None:
        """Goes on in one partition."""
        self.reached[partition] = reached
        raw = bytearray()
        for number in (partition, *reached):
            put_varint(raw, number)
        self._spelled[partition] = bytes(raw)

    def at(self, partition: int) -> Reached:
        """Where it is in a partition."""
        return self.reached.get(partition, Reached(0))

    def is_past(self, other: Place) -> bool:
        """Whether nothing lies between here and there."""
        return all(
            self.at(one).next_offset >= there.next_offset and self.at(one).released >= there.released
            for one, there in other.reached.items()
        )

    def encode(self) -> str:
        """The opaque token."""
        name = self.projection.encode()
        head = bytes((_VERSION,)) + self.topic_id + bytes((len(name),)) + name
        segments = [self._spelled[one] for one in sorted(self._spelled)]
        return urlsafe_b64encode(head + b"".join(segments)).rstrip(b"=").decode()

    @classmethod
    def of(cls, topic_id: bytes, projection: str, reached: Mapping[int, Reached]) -> Place:
        """A place at these."""
        place = cls(topic_id, projection)
        for partition, one in reached.items():
            place.move(partition, one)
        return place

    @classmethod
    def parse(cls, text: str) -> Place | Position:
        """The place of an ``id``, or the position that a write or a read has answered.

        Raises:
            Rejected: ``position_malformed``.
        """
        try:
            place = cls._read(raw_of(text))
        except (ValueError, IndexError):
            raise Rejected("position_malformed", "not an id or a position that this service gave") from None
        if place is None:
            return Position.parse(text)
        if place.encode() != text:
            raise Rejected("position_malformed", "not an id or a position that this service gave")
        return place

    @classmethod
    def _read(cls, raw: bytes) -> Place | None:
        if raw[0] != _VERSION:
            return None
        at = 1 + TOPIC_ID_BYTES
        name = raw[at + 1 : at + 1 + raw[at]].decode("ascii")
        place = cls(raw[1:at], name)
        at += 1 + len(name)
        while at < len(raw):
            partition, at = take_varint(raw, at)
            next_offset, at = take_varint(raw, at)
            released, at = take_varint(raw, at)
            if partition > _PARTITION_MAX or max(next_offset, released) > _NUMBER_MAX:
                raise ValueError("out of range")
            place.move(partition, Reached(next_offset, released))
        return place


class Window(NamedTuple):
    """Offsets of one partition, half open."""

    partition: int
    first: int
    end: int


class Release(NamedTuple):
    """A parked message that was applied after all."""

    number: int
    fact_id: str
    offset: int


class EventApplied(NamedTuple):
    """An event in the projection, with its fact."""

    partition: int
    offset: int
    event_seq: int
    event_id: str
    event_type: str
    recorded_at: str
    fact_no: int
    fact_id: str
    tenant_id: str
    subject_id: str
    subject_label: str | None
    scope_kind: str
    scope_key: str
    fact_key: str
    lane_mode: int
    versions: int


class Stroke(NamedTuple):
    """One line of the timeline: kinds, reasons and version numbers as there."""

    fact_no: int
    event_seq: int
    lane: int
    start: str
    end: str
    kind: int
    reason: int | None
    versions: Sequence[int] | None
    winner: int | None


class Said(NamedTuple):
    """What a version says."""

    version_id: str
    value: bytes
    source_id: str
    start: str


@dataclass(frozen=True, slots=True)
class ChangesWanted:
    """Which facts' changes; None and empty are no limit, but there is always a tenant."""

    tenant_ids: tuple[UUID, ...]
    subject_id: UUID | None = None
    scope: tuple[str, str] | None = None
    key: str | None = None
    prefix: str | None = None
    scopes: Scopes | None = None
