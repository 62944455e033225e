"""The end of the log that a projection has not read yet, as far as some facts are concerned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Stretch(NamedTuple):
    """What to read of a partition: from ``start`` to its end, ``at_least`` being the next offset that is asked for."""

    partition: int
    start: int
    at_least: int


class TailMessage(NamedTuple):
    """One message, undecoded; ``appended_at`` is the broker's, in microseconds since 1970."""

    partition: int
    offset: int
    key: bytes
    value: bytes
    appended_at: int


class TailBounds(NamedTuple):
    """What one reading may cost."""

    scanned_max: int
    """Messages of whatever key that are looked at."""
    found_max: int
    """Messages of the wanted keys."""
    bytes_max: int
    """Bytes of those messages."""
    timeout_s: float


class Tail(NamedTuple):
    """What was read: the messages of the wanted keys, each partition's in offset order."""

    topic_id: bytes
    messages: Sequence[TailMessage]
    starts: Mapping[int, int]
    next_offsets: Mapping[int, int]
    """How far each partition was read."""
    ended: frozenset[int]
    """The partitions that were read to the end of the log."""
    scanned: int
    """Messages that were looked at, of whatever key."""
    is_cut: bool
    """Whether a bound other than time ended it: there is more, also of the wanted keys."""
