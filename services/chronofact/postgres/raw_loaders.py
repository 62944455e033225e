"""Values as they come back, as bytes and microseconds; never compiled, since psycopg reads ``format`` off the class."""

from __future__ import annotations

from struct import Struct
from typing import Final

from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format

_POSTGRES_EPOCH: Final = 946_684_800_000_000
_micros: Final = Struct("!q").unpack


class RawLoader(Loader):
    """Ids and texts as the bytes that they are."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data)


class MicrosLoader(Loader):
    """Instants as microseconds since 1970."""

    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        micros: int = _micros(data)[0]
        return micros + _POSTGRES_EPOCH
