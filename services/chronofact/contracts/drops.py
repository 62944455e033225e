"""How a parked message is given up: one EventDropped under the same key, in the same partition (ADR 17)."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.log import Message
from chronofact.contracts.payload import payload_of
from chronofact.domain.events import EventDropped
from chronofact.domain.identity import event_id_of


class Drop(NamedTuple):
    """Which message is given up, by whom and why; ``key`` is that message's own."""

    topic_id: bytes
    partition: int
    offset: int
    key: bytes
    reason: str
    dropped_by: str

    @property
    def payload(self) -> bytes:
        """The canonical payload."""
        topic_id = str(UUID(bytes=self.topic_id))
        return payload_of(EventDropped(topic_id, self.partition, self.offset, self.dropped_by, self.reason))

    @property
    def event_id(self) -> bytes:
        """Derived from key and payload, so that the same drop sent twice is one event."""
        return event_id_of(self.key, "EventDropped", self.payload)

    def message(self, *, trace: str | None = None) -> Message:
        """As the log takes it; it is of no fact, so it names no identity."""
        event = FactEvent(self.event_id, "EventDropped", b"", None, self.payload, trace=trace)
        return Message(self.key, encode_event(event), self.partition)
