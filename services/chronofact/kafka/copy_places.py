"""Where a message of one topic lies in another of more partitions, and what must be said anew there (ADR 33)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

from chronofact.contracts.codec import decode_event, is_drop
from chronofact.contracts.counting import KEY_BYTES
from chronofact.contracts.drops import Drop
from chronofact.contracts.payload import happening_of
from chronofact.contracts.verifying import check_content, check_event_id
from chronofact.domain.errors import Rejected
from chronofact.domain.events import EventDropped
from chronofact.kafka.partitioning import partition_of

HEADER: Final = "chronofact.from"
"""Names topic, partition and offset that a copied message came from."""
_PLACE: Final = Struct(">16sIQ")

Place: TypeAlias = "tuple[int, int]"
"""A partition and an offset in it."""
Find: TypeAlias = "Callable[[Place, int], int | None]"
"""The offset, in a partition of the new topic, of what lay at a place of the old one."""


@lru_cache(maxsize=100_000)
def _hashed(key: bytes) -> int:
    """What ``partition_of`` divides; facts come again."""
    return partition_of(key, 2**31)


class Copied(NamedTuple):
    """One message to be copied; ``stamp`` is its append time in milliseconds."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    stamp: int
    headers: tuple[tuple[str, bytes | None], ...] = ()

    def came(self, topic_id: bytes) -> list[tuple[str, str | bytes | None]]:
        """Its headers, with where it comes from, and without where it came from before that."""
        kept: list[tuple[str, str | bytes | None]] = [one for one in self.headers if one[0] != HEADER]
        return [*kept, (HEADER, _PLACE.pack(topic_id, self.partition, self.offset))]


def came_from(headers: list[tuple[str, bytes | None]] | None, topic_id: bytes) -> Place | None:
    """The place in that topic that a message was copied from."""
    for name, said in headers or ():
        if name == HEADER and said is not None and len(said) == _PLACE.size:
            topic, partition, offset = _PLACE.unpack(said)
            return (partition, offset) if topic == topic_id else None
    return None


class Moving(NamedTuple):
    """From a topic to another one."""

    old_id: bytes
    old_partitions: int
    new_id: bytes
    new_partitions: int
    written_by: int
    """The count of partitions by which the old one was written: fewer than it has where some were added."""

    def partition(self, key: bytes | None, lies_in: int) -> int:
        """Where it goes.

        What lies where its key belongs goes where its key belongs. Anything else can't be a fact's: it stays in the
        partition of its number, or in the next one where it would count all at once.
        """
        if key is not None and len(key) == KEY_BYTES:
            hashed = _hashed(key)
            belongs = hashed % self.new_partitions
            if hashed % self.written_by == lies_in:
                return belongs
            if belongs == lies_in:
                return (lies_in + 1) % self.new_partitions
        return lies_in

    def value(self, message: Copied, goes_to: int, find: Find) -> bytes | None:
        """What it says there: the same bytes, but that a drop names what it gives up by its new place."""
        if message.value is None or not is_drop(message.value):
            return message.value
        return self._drop(message, message.value, goes_to, find)

    def _drop(self, message: Copied, value: bytes, goes_to: int, find: Find) -> bytes:
        key = message.key or b""
        try:
            event = decode_event(value)
            check_event_id(key, event)
            what = happening_of(event.kind, event.payload)
            check_content(key, event, what)
        except Rejected:
            return value
        if not isinstance(what, EventDropped) or not self._names_here(what, message):
            return value
        offset = find((what.partition, what.offset), goes_to)
        if offset is None:
            return value
        drop = Drop(self.new_id, goes_to, offset, key, what.reason, what.dropped_by)
        return drop.message(trace=event.trace).value

    def _names_here(self, what: EventDropped, message: Copied) -> bool:
        topic_id = bytes.fromhex(what.topic_id.replace("-", ""))
        return (topic_id, what.partition) == (self.old_id, message.partition) and what.offset < message.offset
