"""An end to waiting for a server that says nothing, where neither its own timeouts nor the network's reach: it stands still."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg_pool import AsyncConnectionPool


@asynccontextmanager
async def answering(
    pool: AsyncConnectionPool[AsyncConnection[Any]], *, limit_s: float
) -> AsyncIterator[AsyncConnection[Any]]:
    """A connection of the pool that is cut when the block lasts longer; to be used inside ``failures_named``."""
    async with pool.connection() as connection:
        cutting = asyncio.get_running_loop().call_later(limit_s, cut, connection)
        try:
            yield connection
        finally:
            cutting.cancel()


def cut(connection: AsyncConnection[Any] | Connection[Any]) -> None:
    """Whoever waits at the connection, in another thread too, is told at once that the server is gone."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as twin:
        twin.shutdown(socket.SHUT_RDWR)
