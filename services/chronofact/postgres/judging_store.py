"""The adjudicator's side of the database: memories with what they are to be held against, and what waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from chronofact.postgres import memories
from chronofact.postgres.claims import Claims
from chronofact.postgres.errors import failures_named, not_routed
from chronofact.postgres.looking import Look, Reach, Ref, looks
from chronofact.postgres.memories import Unchecked, Window
from chronofact.postgres.raw_loaders import MicrosLoader, RawLoader
from chronofact.postgres.session import CONNECT_TIMEOUT_S, LOOK_UPS, conninfo_for
from chronofact.postgres.silence import answering
from chronofact.postgres.template import Script, script
from chronofact.runtime.together import Together

STATEMENT_TIMEOUT_MS: Final = 20_000
ANSWER_TIMEOUT_S: Final = 25
"""Of one statement."""
LOOKED_AT_MAX: Final = 16
"""Memories in one snapshot."""
LANES: Final = 2


class Place(NamedTuple):
    """A tenant, and a partition of a topic."""

    tenant_id: bytes
    topic_id: bytes
    partition: int


class Standing(NamedTuple):
    """What a tenant reads, and how far that has come there."""

    projection: str
    next_offset: int


class Released(NamedTuple):
    """A message that was applied late, into its old place; later ones have higher numbers."""

    number: int
    partition: int
    offset: int


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
        self._looking = Together(self._looks, most=LOOKED_AT_MAX, lanes=LANES)

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

    async def standing(self, asked: Sequence[Place]) -> list[Standing | None]:
        """Of each tenant the projection that it reads, and how far that has come; None where it reads none."""
        tenants, topics, partitions = zip(*asked, strict=True)
        named = {
            "tenant_ids": [UUID(bytes=one) for one in tenants],
            "topic_ids": [UUID(bytes=one) for one in topics],
            "partitions": list(partitions),
        }
        lines = await self._rows("standing", named)
        return [None if projection is None else Standing(projection, at) for _, projection, at in lines]

    async def look(self, projection: str, wanted: Ref, reach: Reach) -> Look | None:
        """A memory and all that it is to be held against, as of one moment; None where the projection has no such memory.

        Those that are asked for at the same time are looked at together.
        """
        return await self._looking.ask((projection, wanted, reach))

    async def _looks(self, asked: Sequence[tuple[str, Ref, Reach]]) -> list[Look | None]:
        found: list[Look | None] = [None] * len(asked)
        for projection, reach in {(projection, reach) for projection, _, reach in asked}:
            places = [place for place, one in enumerate(asked) if (one[0], one[2]) == (projection, reach)]
            async with self._connected(ANSWER_TIMEOUT_S * len(places)) as connection:
                looked = await looks(connection, projection, [asked[place][1] for place in places], reach)
            for place, one in zip(places, looked, strict=True):
                found[place] = one
        return found

    async def unchecked(
        self, projection: str, *, older_than: int, limit: int, after: tuple[int, int]
    ) -> list[Unchecked]:
        """Memories that nobody has looked at, a page of them."""
        async with self._connected() as connection, _looking_up(connection):
            return await memories.unchecked(connection, projection, older_than=older_than, limit=limit, after=after)

    async def unchecked_within(self, projection: str, windows: Sequence[Window]) -> list[Unchecked]:
        """The same of what came with some events."""
        async with self._connected() as connection, _looking_up(connection):
            return await memories.unchecked_within(connection, projection, windows)

    async def ends(self, projection: str) -> list[tuple[bytes, int, int]]:
        """How far a projection has come: topic, partition and offset."""
        return [(topic, partition, at) for topic, partition, at in await self._rows("ends", {"projection": projection})]

    async def released(self, projection: str, *, after: int, limit: int) -> list[Released]:
        """What was parked and applied after all, behind a number; the newest first."""
        named = {"projection": projection, "after": after, "lines_max": limit}
        return [Released._make(line) for line in await self._rows("released", named)]

    async def pending(self, projection: str, *, limit: int, after: tuple[int, int]) -> list[Waiting]:
        """Memories with undecided pairs, a page of them."""
        named = {"memories_max": limit, "after_fact_no": after[0], "after_event_seq": after[1]}
        lines = await self._rows("pending", named, schema=projection)
        return [Waiting._make((*told, (fact_no, event_seq))) for *told, fact_no, event_seq in lines]

    async def texts(self, projection: str, wanted: Sequence[tuple[bytes, bytes]]) -> list[str | None]:
        """How each of these memories begins, by fact and version."""
        named = {
            "fact_ids": [UUID(bytes=fact) for fact, _ in wanted],
            "version_ids": [UUID(bytes=version) for _, version in wanted],
        }
        found = dict(await self._rows("texts", named, schema=projection))
        return [found.get(place) for place in range(1, len(wanted) + 1)]

    async def calls(self, version_ids: Sequence[bytes]) -> dict[bytes, int]:
        """How often a model was asked about each memory."""
        return dict(await self._rows("calls", {"version_ids": [UUID(bytes=one) for one in version_ids]}))

    async def _rows(self, name: str, named: Mapping[str, Any], **slots: str) -> list[tuple[Any, ...]]:
        async with self._connected() as connection:
            return await _fetched(connection, name, named, **slots)

    @asynccontextmanager
    async def _connected(self, limit_s: float = ANSWER_TIMEOUT_S) -> AsyncIterator[AsyncConnection[Any]]:
        with failures_named():
            async with answering(self.pool, limit_s=limit_s) as connection:
                yield connection


@asynccontextmanager
async def _looking_up(connection: AsyncConnection[Any]) -> AsyncIterator[None]:
    """A transaction that never reads a whole table of facts, however young its tables are."""
    async with connection.transaction():
        for name, value in LOOK_UPS.items():
            await connection.execute("select set_config(%s, %s, true)", (name, value))
        yield


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
