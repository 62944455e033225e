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
        mixed = _mixed(word)
        hashed = _mixed(hashed) ^ _mixed(mixed ^ mixed >> 24)
    if rest := data[words << 2 :]:
        hashed = _mixed(hashed ^ int.from_bytes(rest, "little"))
    hashed = _mixed(hashed ^ hashed >> 13)
    return hashed ^ hashed >> 15


def _mixed(word: int) -> int:
    """The word times the factor, modulo 2^32, by halves: in machine code no number grows beyond a machine's."""
    return (word & 0xFFFF) * _MIX + (((word >> 16) * _MIX & 0xFFFF) << 16) & _MASK


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a message key in a topic of so many partitions."""
    return (murmur2(key) & _POSITIVE) % partitions
