"""Counts the unread messages of one fact behind its stored events, as the projector will (architecture, The projector)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import UUID

from chronofact.contracts.codec import FactEvent, identity_of
from chronofact.contracts.counting import check_identity, event_in, recorded_at_of, versions_named
from chronofact.contracts.payload import happening_of
from chronofact.contracts.reading import EventLine
from chronofact.contracts.tail import TailMessage
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event, EventDropped
from chronofact.domain.identity import FactIdentity
from chronofact.domain.interval import INSTANT_MIN, format_instant

Place = tuple[int, int]
"""A partition and an offset in it."""


@dataclass(slots=True)
class Counted:
    """One fact's events in log order, each once, with ``recorded_at`` as settled; ``lines`` are those of the tail."""

    events: list[Event] = field(default_factory=list)
    lines: list[EventLine] = field(default_factory=list)
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
        self._topic_id = topic_id
        self._dropped = dropped

    def take(self, message: TailMessage) -> None:
        """The next message of the fact."""
        if (message.partition, message.offset) in self._dropped:
            return
        try:
            event = event_in(message.key, message.value)
        except Rejected:
            self.counted.parked.append(message)
            return
        if event.kind == EventDropped.__name__:
            self._drop(event)
        elif self.counted.parked or not self._counts(message, event):
            self.counted.parked.append(message)

    def _drop(self, event: FactEvent) -> None:
        """A parked message is given up: what waited behind it goes on. What is not parked can't be given up."""
        try:
            said = happening_of(event.kind, event.payload)
        except Rejected:
            return
        if not isinstance(said, EventDropped) or not self._is_ours(said.topic_id):
            return
        parked = self.counted.parked
        left = [one for one in parked if (one.partition, one.offset) != (said.partition, said.offset)]
        if len(left) < len(parked):
            self.counted.parked = left
            self._release()

    def _release(self) -> None:
        waiting, self.counted.parked = self.counted.parked, []
        for at, message in enumerate(waiting):
            try:
                applied = self._counts(message, event_in(message.key, message.value))
            except Rejected:
                applied = False
            if not applied:
                self.counted.parked = waiting[at:]
                return

    def _counts(self, message: TailMessage, event: FactEvent) -> bool:
        """Whether the event could be applied, be it as a repeat that changes nothing."""
        counted = self.counted
        try:
            check_identity(message.key, event)
            identity = counted.identity or identity_of(event.identity)
            if event.event_id in self._known:
                return True
            what = happening_of(event.kind, event.payload, value_hash=event.value_hash)
        except Rejected:
            return False
        counted.identity = identity
        if counted.label is None:
            counted.label = event.subject_label
        self._known.add(event.event_id)
        self._recorded_at = max(self._recorded_at, recorded_at_of(message.appended_at, event))
        counted.events.append(Event(event.event_id, what, self._recorded_at))
        counted.lines.append(
            EventLine(
                len(counted.events),
                str(UUID(bytes=event.event_id)),
                format_instant(self._recorded_at),
                event.kind,
                [str(UUID(bytes=one)) for one in versions_named(what)],
                event.payload.decode(),
                sha256(event.payload).hexdigest(),
                message.partition,
                message.offset,
            )
        )
        return True

    def _is_ours(self, topic_id: str) -> bool:
        try:
            return UUID(topic_id).bytes == self._topic_id
        except ValueError:
            return False
