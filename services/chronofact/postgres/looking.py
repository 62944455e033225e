"""Some new memories, each with all that it is to be held against, as of one moment and in two round trips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from psycopg import AsyncConnection, AsyncCursor

from chronofact.postgres import memories
from chronofact.postgres.errors import failures_named
from chronofact.postgres.memories import Candidate, Check, Counting, StoredMemory, little
from chronofact.postgres.spelling import Int8Array, UuidArray

_CHECK_FIELDS: Final = 8


class FactNames(NamedTuple):
    """What a command names a fact by."""

    subject: str
    scope: str
    key: str


class Ref(NamedTuple):
    """One text memory."""

    tenant_id: bytes
    fact_id: bytes
    version_id: bytes


class Look(NamedTuple):
    """One memory in one snapshot."""

    names: FactNames
    memory: StoredMemory
    check: Check | None
    """Its newest."""
    declared: list[Counting]
    """Of its pairs, those that somebody has decided."""
    candidates: list[Candidate]


class Reach(NamedTuple):
    """How far candidates are looked for; ``keys`` says what a memory asks for."""

    keys: Callable[[StoredMemory], Sequence[str]]
    near: float
    nearest: int


async def looks(
    connection: AsyncConnection[Any], projection: str, wanted: Sequence[Ref], reach: Reach
) -> list[Look | None]:
    """Each in its place; None where the projection has no such memory, or nothing derived from it.

    Raises:
        Transient, Unfit: Postgres is away, or not as it has to be.
    """
    with failures_named():
        await connection.execute("begin isolation level repeatable read read only")
        try:
            begun = await _begun(connection, projection, wanted)
            await _completed(connection, projection, begun, reach)
        finally:
            if not connection.closed:
                await connection.execute("rollback")
    return [begun.get(place) for place in range(len(wanted))]


async def _begun(connection: AsyncConnection[Any], projection: str, wanted: Sequence[Ref]) -> dict[int, Look]:
    """What there is of each by itself."""
    tenants, facts, versions = (UuidArray.of(ids) for ids in zip(*wanted, strict=True))
    named = {"projection": projection, "tenant_ids": tenants, "fact_ids": facts, "version_ids": versions}
    found = {}
    for place, subject, kind, scope_key, key, *told in await _now(connection, projection, "looked_at", named):
        *of_memory, frames, keys, embedder, embedding = told[:-_CHECK_FIELDS]
        names = FactNames(str(UUID(bytes=subject)), f"{kind}:{scope_key}", key)
        memory = StoredMemory._make((*of_memory, orjson.loads(frames), keys, embedder, little(embedding)))
        of_check = told[-_CHECK_FIELDS:]
        check = None if of_check[0] is None else Check(memory.version_id, *of_check)
        found[place - 1] = Look(names, memory, check, [], [])
    return found


async def _completed(
    connection: AsyncConnection[Any], projection: str, begun: Mapping[int, Look], reach: Reach
) -> None:
    """Adds what each is held against."""
    if not begun:
        return
    every = list(begun.values())
    of_every = {
        "fact_nos": Int8Array.of([one.memory.fact_no for one in every]),
        "version_ids": UuidArray.of([one.memory.version_id for one in every]),
    }
    async with AsyncExitStack() as cursors:
        async with connection.pipeline():
            declared = await _asked(cursors, connection, projection, "declared", of_every)
            for_each = [
                await _asked(cursors, connection, projection, "candidates", _reached(one.memory, reach))
                for one in every
            ]
        for place, *told in await declared.fetchall():
            every[place - 1].declared.append(Counting(*told))
        for one, cursor in zip(every, for_each, strict=True):
            one.candidates.extend(map(memories.candidate_of, await cursor.fetchall()))


def _reached(memory: StoredMemory, reach: Reach) -> dict[str, Any]:
    return memories.around(
        memory.fact_no,
        memory.event_seq,
        reach.keys(memory),
        memory.embedding,
        near=reach.near,
        nearest=reach.nearest,
    )


async def _now(
    connection: AsyncConnection[Any], projection: str, name: str, named: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    async with AsyncExitStack() as cursors:
        return await (await _asked(cursors, connection, projection, name, named)).fetchall()


async def _asked(
    cursors: AsyncExitStack, connection: AsyncConnection[Any], projection: str, name: str, named: Mapping[str, Any]
) -> AsyncCursor[Any]:
    cursor = await cursors.enter_async_context(memories.speaking(connection))
    await cursor.execute(memories.statement(connection, name, projection), named)
    return cursor
