"""How reads speak with Postgres: whole arrays as bytes in, and out ids and instants spelled as answers spell them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import Any, Final

from psycopg import AsyncConnection
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader
from psycopg.pq import Format

_EPOCH: Final = 946_684_800_000_000
_HEAD: Final = Struct("!iiiii")
_NULL: Final = b"\xff\xff\xff\xff"
_INT8: Final = Struct("!iq").pack
_UUID: Final = b"\x00\x00\x00\x10"


class UuidArray(bytes):
    """``uuid[]`` as Postgres takes it."""

    __slots__ = ()

    @classmethod
    def of(cls, ids: Sequence[bytes]) -> UuidArray:
        """From 16 raw bytes each."""
        return cls(_array(2950, len(ids), b"".join([_UUID + one for one in ids])))


class Int8Array(bytes):
    """``int8[]``."""

    __slots__ = ()

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Int8Array:
        """From integers."""
        return cls(_array(20, len(numbers), b"".join([_INT8(8, one) for one in numbers])))


class InstantArray(bytes):
    """``timestamptz[]``."""

    __slots__ = ()

    @classmethod
    def of(cls, instants: Sequence[int | None]) -> InstantArray:
        """From microseconds since 1970; None is NULL."""
        return cls(_array(1184, len(instants), b"".join([_instant(one) for one in instants])))


class Instant(int):
    """One ``timestamptz`` by its microseconds since 1970."""

    __slots__ = ()

    @classmethod
    def of(cls, instant: int | None) -> Instant | None:
        """None stays NULL."""
        return None if instant is None else cls(instant)


def speak_plainly(connection: AsyncConnection[Any]) -> None:
    """Teaches a connection these parameters, and to answer ids and instants as text."""
    adapters = connection.adapters
    take_parameters(adapters)
    adapters.register_loader("uuid", _TextLoader)
    adapters.register_loader("json", _BytesLoader)
    adapters.register_loader("bytea", _HexLoader)
    adapters.register_loader("timestamptz", _InstantLoader)


def take_parameters(adapters: AdaptersMap) -> None:
    """Teaches a connection these parameters only."""
    for kind, dumper in _DUMPERS:
        adapters.register_dumper(kind, dumper)


def _array(element_oid: int, length: int, elements: bytes) -> bytes:
    if length == 0:
        return _HEAD.pack(0, 0, element_oid, 0, 0)[:12]
    return _HEAD.pack(1, 1, element_oid, length, 1) + elements


def _instant(instant: int | None) -> bytes:
    return _NULL if instant is None else _INT8(8, instant - _EPOCH)


class _BytesDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> Buffer:
        return bytes(obj)


class _UuidArrayDumper(_BytesDumper):
    oid = 2951


class _Int8ArrayDumper(_BytesDumper):
    oid = 1016


class _InstantArrayDumper(_BytesDumper):
    oid = 1185


class _InstantDumper(Dumper):
    format = Format.BINARY
    oid = 1184

    def dump(self, obj: int) -> Buffer:
        return _INT8(8, int(obj) - _EPOCH)[4:]


_DUMPERS: Final[Iterable[tuple[type, type[Dumper]]]] = (
    (UuidArray, _UuidArrayDumper),
    (Int8Array, _Int8ArrayDumper),
    (InstantArray, _InstantArrayDumper),
    (Instant, _InstantDumper),
)


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        return bytes(data).decode("ascii")


class _BytesLoader(Loader):
    def load(self, data: Buffer) -> bytes:
        return bytes(data)


class _HexLoader(Loader):
    def load(self, data: Buffer) -> str:
        return bytes(data)[2:].decode("ascii")


class _InstantLoader(Loader):
    """RFC 3339 from Postgres's ISO style in UTC: six digits of fraction, or none."""

    def load(self, data: Buffer) -> str:
        text = bytes(data).decode("ascii")
        if len(text) == 22:  # 2026-07-01 00:00:00+00
            return f"{text[:10]}T{text[11:19]}Z"
        return f"{text[:10]}T{text[11:19]}.{text[20:-3]:0<6}Z"
