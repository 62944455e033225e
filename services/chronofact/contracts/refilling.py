"""Messages of the facts topic made again from what a projection keeps of them (ADR 34)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.counting import check_identity
from chronofact.contracts.payload import happening_of
from chronofact.contracts.position import Position
from chronofact.contracts.verifying import check_event_id
from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    RelationsChecked,
)

NOT_KEPT: Final = {
    "trace": "the trace id of the request that an event came with",
    "repeats": "messages that said again what was known",
    "dropped": "messages that were given up, and the drops",
    "labels": "a fact's labels but for the first that it was given",
    "derived": "what was derived from a text, but for what came with the first event that asserted it",
}
"""What a projection does not keep of the log, so that no refill brings it back."""
_MS: Final = 1_000
_FIRST_MS: Final = 1
"""Kafka's clients take 0 for now."""


class KeptEvent(NamedTuple):
    """An applied event as a projection keeps it; ``label`` is its fact's, with the first event only."""

    offset: int
    fact_id: bytes
    identity: bytes
    label: str | None
    event_id: bytes
    kind: str
    recorded_at: int
    payload: bytes
    payload_hash: bytes
    derived: bytes | None = None


class KeptMessage(NamedTuple):
    """A parked message, with its bytes."""

    offset: int
    key: bytes | None
    value: bytes | None
    appended_at: int


class PartKept(NamedTuple):
    """What there is of one partition, and the last offset that any of it lay at."""

    events: int
    parked: int
    dropped: int
    last_offset: int


class Gap(NamedTuple):
    """A fact whose events are not whole; None where only its events are left."""

    fact_no: int
    fact_id: UUID | None


@dataclass(frozen=True, slots=True)
class Source:
    """A projection that a topic is to be refilled from."""

    projection: str
    state: str
    partitions: int
    reached: Position
    """Up to where it applied the topic that it was made of."""
    known: Position
    """Up to where that topic is known to have gone, at least."""
    ahead: Mapping[str, int]
    """Other projections of that topic, and how many messages each has beyond this one."""
    parts: Mapping[int, PartKept]

    def lacks(self, position: Position) -> int:
        """How many messages before a position were never applied here."""
        reached = self.reached.next_offsets
        return sum(max(0, end - reached.get(one, 0)) for one, end in position.next_offsets.items())

    @property
    def events(self) -> int:
        """All that were applied."""
        return sum(one.events for one in self.parts.values())

    @property
    def parked(self) -> int:
        """All that are parked."""
        return sum(one.parked for one in self.parts.values())

    @property
    def dropped(self) -> int:
        """All that were given up."""
        return sum(one.dropped for one in self.parts.values())

    @property
    def repeats(self) -> int:
        """Places of the old topic of which nothing is kept: what said again what was known, and markers."""
        return sum(self.reached.next_offsets.values()) - self.events - self.parked - 2 * self.dropped


class Stamped(NamedTuple):
    """A message of the new topic, with the append time that it is to have."""

    key: bytes | None
    value: bytes | None
    append_time_ms: int


class Stamps:
    """Append times of one partition, told in the order of its offsets.

    When an imported event was appended is not kept. But it was not before anything that lies below it; that time it gets,
    and its own as import time, so that it is recorded when it was, to the microsecond.
    """

    def __init__(self) -> None:
        self._latest_ms = _FIRST_MS

    def of_event(self, recorded_at: int) -> tuple[int, int | None]:
        """Append time in milliseconds, and the import time where that alone would not say ``recorded_at``."""
        self._latest_ms = max(self._latest_ms, -(-recorded_at // _MS))
        return self._latest_ms, None if self._latest_ms * _MS == recorded_at else recorded_at

    def of_message(self, appended_at: int) -> int:
        """What is parked is kept with its append time."""
        appended_ms = max(_FIRST_MS, appended_at // _MS)
        self._latest_ms = max(self._latest_ms, appended_ms)
        return appended_ms


def said_again(kept: KeptEvent | KeptMessage, stamps: Stamps) -> Stamped:
    """The message from which a projector makes again what is kept.

    Raises:
        Rejected: what is kept contradicts itself; the codes are those of ``check_event_id`` and its like.
    """
    if isinstance(kept, KeptMessage):
        return Stamped(kept.key, kept.value, stamps.of_message(kept.appended_at))
    append_time_ms, import_time = stamps.of_event(kept.recorded_at)
    return Stamped(kept.fact_id, encode_event(event_again(kept, import_time)), append_time_ms)


def event_again(kept: KeptEvent, import_time: int | None) -> FactEvent:
    """The event as its writer made it, but for what is not kept.

    Raises:
        Rejected: ``identity_mismatch``, ``event_id_mismatch``, ``event_undecodable``.
    """
    if sha256(kept.payload).digest() != kept.payload_hash:
        raise Rejected("event_id_mismatch", "the payload is not the one of its hash")
    what = happening_of(kept.kind, kept.payload)
    asserted = what if isinstance(what, FactAsserted) else None
    event = FactEvent(
        kept.event_id,
        kept.kind,
        kept.identity,
        kept.label,
        kept.payload,
        kept.derived,
        version_id=_version_id(what),
        value_hash=None if asserted is None else asserted.value_hash,
        source_hash=None if asserted is None else asserted.source_hash,
        import_time=import_time,
    )
    check_identity(kept.fact_id, event)
    check_event_id(kept.fact_id, event)
    return event


def _version_id(what: Happening) -> bytes | None:
    """The one version that a writer names beside the payload."""
    if isinstance(what, FactAsserted | FactActivated | FactEnded | FactRevoked | RelationsChecked):
        return what.version_id
    return what.new_version_id if isinstance(what, FactSuperseded) else None
