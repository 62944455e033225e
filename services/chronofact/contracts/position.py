"""The position token: how far the log went, by topic id and one next offset a partition."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from chronofact.domain.errors import Rejected

_VERSION: Final = 1
TOPIC_ID_BYTES: Final = 16
_TOKEN_CHARS_MAX: Final = 16_384
_PARTITION_MAX: Final = 2**31 - 1
_OFFSET_MAX: Final = 2**63 - 1
_VARINT_BYTES_MAX: Final = 9


@dataclass(frozen=True, slots=True)
class Position:
    """For each partition it speaks of, the offset behind the last event; ``topic_id`` is Kafka's topic UUID."""

    topic_id: bytes
    next_offsets: Mapping[int, int] = field(default_factory=dict)

    def encode(self) -> str:
        """The opaque token; equal positions have equal tokens."""
        raw = bytearray((_VERSION,))
        raw += self.topic_id
        for partition, next_offset in sorted(self.next_offsets.items()):
            put_varint(raw, partition)
            put_varint(raw, next_offset)
        return urlsafe_b64encode(raw).rstrip(b"=").decode()

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position of a token.

        Raises:
            Rejected: ``position_malformed``.
        """
        try:
            position = cls._read(raw_of(text))
        except (ValueError, IndexError):
            raise Rejected("position_malformed", "not a position that this service gave") from None
        if position.encode() != text:
            raise Rejected("position_malformed", "not a position that this service gave")
        return position

    @classmethod
    def _read(cls, raw: bytes) -> Position:
        if raw[0] != _VERSION or len(raw) <= TOPIC_ID_BYTES:
            raise ValueError("unknown version or cut short")
        at = 1 + TOPIC_ID_BYTES
        next_offsets: dict[int, int] = {}
        while at < len(raw):
            partition, at = take_varint(raw, at)
            next_offset, at = take_varint(raw, at)
            if partition > _PARTITION_MAX or next_offset > _OFFSET_MAX:
                raise ValueError("out of range")
            next_offsets[partition] = next_offset
        return cls(raw[1 : 1 + TOPIC_ID_BYTES], next_offsets)

    def merge(self, other: Position) -> Position:
        """The position that covers both.

        Raises:
            Rejected: ``position_of_other_topic``.
        """
        if other.topic_id != self.topic_id:
            raise Rejected(
                "position_of_other_topic", "the positions are of different topics, so they can't be compared"
            )
        partitions = self.next_offsets.keys() | other.next_offsets.keys()
        return Position(
            self.topic_id,
            {one: max(self.next_offsets.get(one, 0), other.next_offsets.get(one, 0)) for one in partitions},
        )

    def is_passed_by(self, next_offsets: Mapping[int, int]) -> bool:
        """Whether everything before this position lies before those offsets."""
        return all(next_offsets.get(one, 0) >= wanted for one, wanted in self.next_offsets.items())


def raw_of(text: str) -> bytes:
    """The bytes of a token.

    Raises:
        ValueError: it is none of ours.
    """
    if len(text) > _TOKEN_CHARS_MAX:
        raise ValueError("too long")
    return urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))


def put_varint(raw: bytearray, number: int) -> None:
    """Appends a number, seven bits a byte, lowest first."""
    while number > 0x7F:
        raw.append(number & 0x7F | 0x80)
        number >>= 7
    raw.append(number)


def take_varint(raw: bytes, at: int) -> tuple[int, int]:
    """The number at a place and the place behind it; ValueError or IndexError where there is none."""
    number = 0
    for shift in range(0, 7 * _VARINT_BYTES_MAX, 7):
        byte = raw[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
    raise ValueError("varint too long")
