"""How a parked message is given up: one EventDropped under the same key, in the same partition (ADR 17)."""

from __future__ import annotations

from typing import Annotated, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, StringConstraints

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.commands import NO_NUL, IdText, Name
from chronofact.contracts.log import Message
from chronofact.contracts.payload import id_bytes, payload_of
from chronofact.domain.errors import Rejected
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


class DropCommand(BaseModel):
    """The body of ``POST /v1/drops``: a parked message by its place, its key in hexadecimal digits, and why."""

    model_config = ConfigDict(extra="forbid", strict=True)

    topic_id: IdText
    partition: int
    offset: int
    key: Annotated[str, StringConstraints(max_length=2**21)]
    reason: Annotated[str, StringConstraints(min_length=1, max_length=4_096, pattern=NO_NUL)]
    dropped_by: Name = "operator"

    def drop(self, *, topic_id: bytes, partitions: int) -> Drop:
        """The drop that it asks for.

        Raises:
            Rejected: ``topic_id_differs``, ``place_out_of_range``, ``key_not_hex``.
        """
        try:
            named = id_bytes(self.topic_id)
        except ValueError:
            raise Rejected("id_malformed", "not a UUID of 36 characters", field="topic_id") from None
        if named != topic_id:
            raise Rejected("topic_id_differs", "the facts topic has another id", field="topic_id")
        if not 0 <= self.partition < partitions:
            raise Rejected("place_out_of_range", f"the topic has partitions 0 to {partitions - 1}", field="partition")
        if not 0 <= self.offset < 2**63:
            raise Rejected("place_out_of_range", "an offset counts from 0", field="offset")
        return Drop(topic_id, self.partition, self.offset, self._key(), self.reason, self.dropped_by)

    def _key(self) -> bytes:
        try:
            key = bytes.fromhex(self.key)
        except ValueError:
            key = b""
        if key.hex() != self.key.lower():
            raise Rejected(
                "key_not_hex", "key is the message key in hexadecimal digits, empty if it has none", field="key"
            )
        return key
