"""Which partition a key lies in: murmur2 as Java's producer computes it, so that every client agrees."""

from __future__ import annotations

from struct import unpack_from
from typing import Final

_SEED: Final = 0x9747B28C
_MIX: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """The unsigned 32-bit hash."""
    length = len(data)
    words = length >> 2
    hashed = _SEED ^ length
    for word in unpack_from(f"<{words}I", data):
        mixed = word * _MIX & _MASK
        mixed ^= mixed >> 24
        hashed = (hashed * _MIX & _MASK) ^ (mixed * _MIX & _MASK)
    if rest := data[words << 2 :]:
        hashed = (hashed ^ int.from_bytes(rest, "little")) * _MIX & _MASK
    hashed ^= hashed >> 13
    hashed = hashed * _MIX & _MASK
    return hashed ^ hashed >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a message key in a topic of so many partitions."""
    return (murmur2(key) & _POSITIVE) % partitions
