"""Counts the unread messages of one fact behind its stored events, as the projector will (architecture, The projector)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from chronofact.contracts.codec import FactEvent, is_drop
from chronofact.contracts.counting import check_identity, event_in, recorded_at_of, versions_named
from chronofact.contracts.payload import happening_of
from chronofact.contracts.reading import EventLine
from chronofact.contracts.tail import TailMessage
from chronofact.contracts.verifying import check_content, check_event_id, checked_identity
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event, EventDropped, Happening
from chronofact.domain.identity import FactIdentity
from chronofact.domain.interval import INSTANT_MIN, format_instant

Place = tuple[int, int]
"""A partition and an offset in it."""


class Unread(NamedTuple):
    """An event that counts but that its projection has not read."""

    message: TailMessage
    event: FactEvent
    what: Happening

    def line(self, event_seq: int, counted: Event) -> EventLine:
        """The event as ``/events`` lists it."""
        return EventLine(
            event_seq,
            str(UUID(bytes=self.event.event_id)),
            format_instant(counted.recorded_at),
            self.event.kind,
            [str(UUID(bytes=one)) for one in versions_named(self.what)],
            self.event.payload.decode(),
            sha256(self.event.payload).hexdigest(),
            self.message.partition,
            self.message.offset,
        )


@dataclass(slots=True)
class Counted:
    """One fact's events in log order, each once, with ``recorded_at`` as settled; ``unread`` are the last ones."""

    events: list[Event] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    parked: list[TailMessage] = field(default_factory=list)
    """What can't be applied, or waits behind such a message; in offset order."""
    identity: FactIdentity | None = None
    label: str | None = None
    """The subject's label, as the first event of the tail that has one says it."""


class Counter:
    """Takes in a fact's messages one by one; what the projector would park is parked here."""

    def __init__(
        self, stored: Sequence[Event], parked: Sequence[TailMessage], *, topic_id: bytes, dropped: Collection[Place]
    ) -> None:
        self.counted = Counted(list(stored), parked=list(parked))
        self._known = {event.event_id for event in stored}
        self._recorded_at = stored[-1].recorded_at if stored else INSTANT_MIN
        self._topic_id = str(UUID(bytes=topic_id))
        self._dropped = dropped

    def take(self, message: TailMessage) -> None:
        """The next message of the fact."""
        if (message.partition, message.offset) in self._dropped:
            return
        if is_drop(message.value):
            self._drop(message)
        elif self.counted.parked or not self._counts(message):
            self.counted.parked.append(message)

    def _drop(self, message: TailMessage) -> None:
        """A parked message is given up: what waited behind it goes on. A drop of what is not parked does not count."""
        try:
            event = event_in(message.key, message.value)
            check_event_id(message.key, event)
            said = happening_of(event.kind, event.payload)
            check_content(message.key, event, said)
        except Rejected:
            return
        if not isinstance(said, EventDropped) or said.topic_id != self._topic_id or said.partition != message.partition:
            return
        parked = self.counted.parked
        left = [one for one in parked if (one.partition, one.offset) != (said.partition, said.offset)]
        if len(left) < len(parked):
            self.counted.parked = left
            self._release()

    def _release(self) -> None:
        """What is parked, in order, up to the first that still can't be applied."""
        while self.counted.parked and self._counts(self.counted.parked[0]):
            self.counted.parked.pop(0)

    def _counts(self, message: TailMessage) -> bool:
        """Whether the message could be applied, be it as a repeat that changes nothing."""
        counted = self.counted
        try:
            event = event_in(message.key, message.value)
            check_identity(message.key, event)
            check_event_id(message.key, event)
            if event.event_id in self._known:
                return True
            what = happening_of(event.kind, event.payload)
            check_content(message.key, event, what)
            counted.identity = counted.identity or checked_identity(event.identity)
        except Rejected:
            return False
        if counted.label is None:
            counted.label = event.subject_label
        self._known.add(event.event_id)
        self._recorded_at = max(self._recorded_at, recorded_at_of(message.appended_at, event))
        counted.events.append(Event(event.event_id, what, self._recorded_at))
        counted.unread.append(Unread(message, event, what))
        return True
