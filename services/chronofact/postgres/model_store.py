"""What asking a model has cost today, counted before it is spent, and the answers as they came."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from functools import cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from chronofact.postgres.errors import failures_named
from chronofact.postgres.silence import answering
from chronofact.postgres.template import Script, script

RAW_BYTES_MAX: Final = 64 * 1024
"""Of an answer that is kept; the verdicts of a whole one have a tenth of it."""
ANSWER_TIMEOUT_S: Final = 10


class AnswerLine(NamedTuple):
    """One call: what was asked about, and what came."""

    tenant_id: bytes
    fact_id: bytes
    version_id: bytes
    pairs: int
    outcome: str
    model: str
    prompt_version: str
    tokens_read: int
    tokens_written: int
    cost: float
    seconds: float
    raw: bytes | None


class ModelStore:
    """Over the pool of whoever asks."""

    def __init__(self, pool: AsyncConnectionPool[AsyncConnection[Any]]) -> None:
        self._pool = pool

    async def reserve(self, tokens: int, *, calls_max: int, tokens_max: int) -> date | None:
        """The day that a call and its tokens are counted for from now on; None where they are beyond a limit.

        Raises:
            Transient, Unfit: Postgres is away or not migrated.
        """
        named = {"tokens": tokens, "calls_max": calls_max, "tokens_max": tokens_max}
        async with self._connected() as connection:
            cursor = await connection.execute(_script("reserve").filled(connection), named)
            found = await cursor.fetchone()
        return None if found is None else found[0]

    async def spent(self) -> tuple[int, int]:
        """Calls and tokens of today."""
        async with self._connected() as connection:
            found = await (await connection.execute(_script("spent").filled(connection))).fetchone()
        assert found is not None  # noqa: S101 - a sum has one line
        return found[0], found[1]

    async def settle(self, day: date, reserved: int, line: AnswerLine) -> None:
        """A call is over: what it used counts instead of what was reserved, and its answer is kept."""
        named = line._asdict() | {
            "day": day,
            "reserved": reserved,
            "tenant_id": UUID(bytes=line.tenant_id),
            "fact_id": UUID(bytes=line.fact_id),
            "version_id": UUID(bytes=line.version_id),
            "raw": None if line.raw is None else line.raw[:RAW_BYTES_MAX],
        }
        async with self._connected() as connection:
            await connection.execute(_script("settle").filled(connection), named)

    async def forget(self, days: int) -> None:
        """Drops answers older than so many days."""
        async with self._connected() as connection:
            await connection.execute(_script("forget").filled(connection), {"days": days})

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection[Any]]:
        with failures_named():
            async with answering(self._pool, limit_s=ANSWER_TIMEOUT_S) as connection:
                yield connection


@cache
def _script(name: str) -> Script:
    return script("adjudicator", name)
