"""The adjudicator's side of the database: a memory with what it is to be held against, what waits, and who judges what."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from chronofact.postgres import memories
from chronofact.postgres.claims import Claims
from chronofact.postgres.errors import failures_named, not_routed
from chronofact.postgres.memories import Candidate, Check, Counting, StoredMemory, Unchecked
from chronofact.postgres.raw_loaders import MicrosLoader, RawLoader
from chronofact.postgres.session import CONNECT_TIMEOUT_S, conninfo_for
from chronofact.postgres.silence import answering
from chronofact.postgres.template import Script, script

STATEMENT_TIMEOUT_MS: Final = 20_000
ANSWER_TIMEOUT_S: Final = 25


class FactNames(NamedTuple):
    """What a command names a fact by."""

    subject: str
    scope: str
    key: str


class Look(NamedTuple):
    """One memory in one snapshot."""

    names: FactNames
    memory: StoredMemory
    check: Check | None
    """Its newest."""
    declared: list[Counting]
    """Of its pairs, those that somebody has decided."""
    candidates: list[Candidate]


class Waiting(NamedTuple):
    """A memory with undecided pairs; ``place`` is where the next page goes on."""

    fact_id: bytes
    tenant_id: bytes
    version_id: bytes
    pairs: int
    pending: int
    reason: str | None
    pending_since: int
    place: tuple[int, int]


class JudgingStore:
    """Reads over a pool, and the claims of whoever reads."""

    def __init__(self, conninfo: str, *, connections_max: int = 4) -> None:
        named = conninfo_for(conninfo, "adjudicator", statement_timeout=STATEMENT_TIMEOUT_MS, jit="off")
        self.pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            named,
            min_size=1,
            max_size=connections_max,
            open=False,
            name="adjudicator",
            timeout=CONNECT_TIMEOUT_S,
            max_waiting=1_024,
            reconnect_timeout=10,
            kwargs={"autocommit": True},
        )
        self.claims = Claims(conninfo)

    async def open(self) -> None:
        """Starts the pool; it does not wait for Postgres."""
        await self.pool.open(wait=False)

    async def close(self) -> None:
        """Closes every connection, and so gives up every claim."""
        await self.claims.close()
        await self.pool.close()

    async def routes(self) -> list[str]:
        """Projections that reads go to."""
        return [str(name) for (name,) in await self._rows("routed", {})]

    async def route(self, tenant_id: bytes) -> str:
        """The projection that a tenant reads.

        Raises:
            Unfit: ``tenant_not_routed``.
        """
        async with self._connected() as connection:
            statement = script("reader", "route").filled(connection)
            found = await (await connection.execute(statement, {"tenant_id": UUID(bytes=tenant_id)})).fetchone()
        if found is None:
            raise not_routed()
        return str(found[0])

    async def next_offset(self, projection: str, topic_id: bytes, partition: int) -> int:
        """How far a projection has come in a partition of that topic."""
        lines = await self._rows("standing", {"projection": projection, "partition": partition})
        return max((at for topic, at in lines if topic == topic_id), default=0)

    async def look(
        self,
        projection: str,
        tenant_id: bytes,
        fact_id: bytes,
        version_id: bytes,
        *,
        keys: Callable[[StoredMemory], Sequence[str]],
        near: float,
        nearest: int,
    ) -> Look | None:
        """A memory and all that it is to be held against, as of one moment; None where the projection has no such memory."""
        async with self._connected() as connection:
            await connection.execute("begin isolation level repeatable read read only")
            try:
                return await self._look(connection, projection, (tenant_id, fact_id, version_id), keys, near, nearest)
            finally:
                if not connection.closed:
                    await connection.execute("rollback")

    async def _look(
        self,
        connection: AsyncConnection[Any],
        projection: str,
        ids: tuple[bytes, bytes, bytes],
        keys: Callable[[StoredMemory], Sequence[str]],
        near: float,
        nearest: int,
    ) -> Look | None:
        tenant_id, fact_id, version_id = ids
        found = await memories.memory(connection, projection, fact_id, version_id)
        named = {"fact_id": UUID(bytes=fact_id), "tenant_id": UUID(bytes=tenant_id)}
        lines = await _fetched(connection, "fact", named, schema=projection)
        if found is None or not lines:
            return None
        ((subject, kind, scope_key, key),) = lines
        checks = await memories.checks_of(connection, projection, found.fact_no, [version_id])
        declared = await memories.relations_of(connection, projection, found.fact_no, [version_id])
        candidates = await memories.candidates(
            connection,
            projection,
            found.fact_no,
            found.event_seq,
            keys(found),
            found.embedding,
            near=near,
            nearest=nearest,
        )
        names = FactNames(str(UUID(bytes=subject)), f"{kind}:{scope_key}", key)
        return Look(names, found, checks[0] if checks else None, declared, candidates)

    async def unchecked(
        self, projection: str, *, older_than: int, limit: int, after: tuple[int, int]
    ) -> list[Unchecked]:
        """Memories that nobody has looked at, a page of them."""
        async with self._connected() as connection:
            return await memories.unchecked(connection, projection, older_than=older_than, limit=limit, after=after)

    async def pending(self, projection: str, *, limit: int, after: tuple[int, int]) -> list[Waiting]:
        """Memories with undecided pairs, a page of them."""
        named = {"memories_max": limit, "after_fact_no": after[0], "after_event_seq": after[1]}
        lines = await self._rows("pending", named, schema=projection)
        return [Waiting._make((*told, (fact_no, event_seq))) for *told, fact_no, event_seq in lines]

    async def _rows(self, name: str, named: Mapping[str, Any], **slots: str) -> list[tuple[Any, ...]]:
        async with self._connected() as connection:
            return await _fetched(connection, name, named, **slots)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection[Any]]:
        with failures_named():
            async with answering(self.pool, limit_s=ANSWER_TIMEOUT_S) as connection:
                yield connection


async def _fetched(
    connection: AsyncConnection[Any], name: str, named: Mapping[str, Any], **slots: str
) -> list[tuple[Any, ...]]:
    async with connection.cursor(binary=True) as cursor:
        cursor.adapters.register_loader("uuid", RawLoader)
        cursor.adapters.register_loader("timestamptz", MicrosLoader)
        await cursor.execute(_script(name).filled(connection, **slots), named)
        return await cursor.fetchall()


@cache
def _script(name: str) -> Script:
    return script("adjudicator", name)
