"""A TCP proxy that can be cut and mended, so that a server is away for one client only."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Wire:
    """What runs between a client and the server."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._is_cut = False
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Every connection breaks, and none is taken."""
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def mend(self) -> None:
        """Connections are taken again."""
        self._is_cut = False

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        if self._is_cut:
            writer.transport.abort()
            return
        there_reader, there_writer = await asyncio.open_connection(*self._target)
        self._writers |= {writer, there_writer}
        await asyncio.gather(self._carry(reader, there_writer), self._carry(there_reader, writer))

    @staticmethod
    async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def wire_to(database: str) -> AsyncIterator[tuple[Wire, str]]:
    """A wire, and the database's address through it."""
    there = conninfo_to_dict(database)
    wire = Wire(str(there["host"]), int(there["port"] or 5432))
    server = await asyncio.start_server(wire.run, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield wire, make_conninfo(database, host="127.0.0.1", port=str(port))
    finally:
        wire.cut()
        server.close()
